//! Fields by themselves: moved, renamed, converted.

use super::holds;

#[test]
fn fields_are_renamed_and_moved() {
    holds(
        r#"{"id":7,"user":{"login":"octo","mail":"o@example.com"}}"#,
        r#"{"identifier":7,"contact":{"username":"octo","email":"o@example.com"}}"#,
        &[(
            r#"{"id":8,"user":{"login":"cat","mail":"c@example.org"}}"#,
            r#"{"identifier":8,"contact":{"username":"cat","email":"c@example.org"}}"#,
        )],
    );
}

#[test]
fn nested_objects_are_flattened() {
    holds(
        r#"{"order":{"no":"A-17","customer":{"name":"Jane Roe","address":{"city":"Riga","zip":"LV-1010"}}}}"#,
        r#"{"order_no":"A-17","customer_name":"Jane Roe","customer_city":"Riga","customer_zip":"LV-1010"}"#,
        &[(
            r#"{"order":{"no":"B-2","customer":{"name":"Al","address":{"city":"Rome","zip":"00100"}}}}"#,
            r#"{"order_no":"B-2","customer_name":"Al","customer_city":"Rome","customer_zip":"00100"}"#,
        )],
    );
}

#[test]
fn flat_fields_are_nested() {
    holds(
        r#"{"first_name":"Jane","last_name":"Roe","city":"Riga","country":"LV"}"#,
        r#"{"person":{"name":{"first":"Jane","last":"Roe"},"address":{"city":"Riga","country":"LV"}}}"#,
        &[(
            r#"{"first_name":"Al","last_name":"Poe","city":"Rome","country":"IT"}"#,
            r#"{"person":{"name":{"first":"Al","last":"Poe"},"address":{"city":"Rome","country":"IT"}}}"#,
        )],
    );
}

#[test]
fn the_field_with_the_like_name_is_taken() {
    holds(
        r#"{"billing":{"city":"Riga","street":"Main 1"},"shipping":{"city":"Riga","street":"Main 1"}}"#,
        r#"{"shipping_city":"Riga","billing_street":"Main 1"}"#,
        &[(
            r#"{"billing":{"city":"Rome","street":"Via 2"},"shipping":{"city":"Oslo","street":"Gate 3"}}"#,
            r#"{"shipping_city":"Oslo","billing_street":"Via 2"}"#,
        )],
    );
}

#[test]
fn small_numbers_and_flags_follow_their_names() {
    holds(
        r#"{"retries":1,"position":1,"active":true,"verified":true,"count":0}"#,
        r#"{"retry_count":0,"retries":1,"is_active":true,"version":2}"#,
        &[(
            r#"{"retries":5,"position":9,"active":false,"verified":true,"count":3}"#,
            r#"{"retry_count":3,"retries":5,"is_active":false,"version":2}"#,
        )],
    );
}

#[test]
fn constants_stay() {
    holds(
        r#"{"id":"evt_1"}"#,
        r#"{"id":"evt_1","source":"billing","version":2,"tags":["a","b"],"nested":{"x":null,"y":[]},"live":true}"#,
        &[(
            r#"{"id":"evt_2"}"#,
            r#"{"id":"evt_2","source":"billing","version":2,"tags":["a","b"],"nested":{"x":null,"y":[]},"live":true}"#,
        )],
    );
}

#[test]
fn texts_and_numbers_are_converted() {
    holds(
        r#"{"total":"19.90","number":1042,"paid":"true","amount_cents":2550,"weight":"3"}"#,
        r#"{"total":19.9,"number":"1042","paid":true,"amount":25.5,"weight":3}"#,
        &[(
            r#"{"total":"7.05","number":7,"paid":"false","amount_cents":99,"weight":"12"}"#,
            r#"{"total":7.05,"number":"7","paid":false,"amount":0.99,"weight":12}"#,
        )],
    );
}

#[test]
fn money_in_cents() {
    holds(
        r#"{"price":"19.99","fee":1.25}"#,
        r#"{"price_cents":1999,"fee_cents":125}"#,
        &[(r#"{"price":"1234.56","fee":0.29}"#, r#"{"price_cents":123456,"fee_cents":29}"#)],
    );
}

#[test]
fn money_as_text() {
    holds(
        r#"{"amount":129900,"currency":"usd"}"#,
        r#"{"amount":"1299.00","shown":"$1,299.00","currency":"USD"}"#,
        &[(
            r#"{"amount":1234567890,"currency":"eur"}"#,
            r#"{"amount":"12345678.90","shown":"$12,345,678.90","currency":"EUR"}"#,
        )],
    );
}

#[test]
fn unix_seconds_become_dates() {
    holds(
        r#"{"created":1714557600,"id":"x1"}"#,
        r#"{"created_at":"2024-05-01T10:00:00Z","day":"2024-05-01","shown":"01/05/2024","text":"May 1, 2024"}"#,
        &[(
            r#"{"created":1700000000,"id":"x2"}"#,
            r#"{"created_at":"2023-11-14T22:13:20Z","day":"2023-11-14","shown":"14/11/2023","text":"Nov 14, 2023"}"#,
        )],
    );
}

#[test]
fn milliseconds_become_seconds_and_dates() {
    holds(
        r#"{"ts":1714557600000,"duration_ms":2500}"#,
        r#"{"unix":1714557600,"iso":"2024-05-01T10:00:00Z","duration":2.5}"#,
        &[(
            r#"{"ts":1700000000999,"duration_ms":125}"#,
            r#"{"unix":1700000000,"iso":"2023-11-14T22:13:20Z","duration":0.125}"#,
        )],
    );
}

#[test]
fn dates_become_unix_times() {
    holds(
        r#"{"created_at":"2024-05-01T12:00:00+02:00","day":"01.05.2024"}"#,
        r#"{"created":1714557600,"created_ms":1714557600000,"iso_day":"2024-05-01"}"#,
        &[(
            r#"{"created_at":"2023-11-14T22:13:20Z","day":"24.12.2023"}"#,
            r#"{"created":1700000000,"created_ms":1700000000000,"iso_day":"2023-12-24"}"#,
        )],
    );
}

#[test]
fn cases_and_white_space() {
    holds(
        r#"{"code":"abc-12","name":"JANE ROE","note":"  hello there ","kind":"order_created"}"#,
        r#"{"code":"ABC-12","name":"Jane Roe","note":"hello there","kind":"Order created"}"#,
        &[(
            r#"{"code":"xy-9","name":"AL POE","note":"x ","kind":"customer_account_deleted"}"#,
            r#"{"code":"XY-9","name":"Al Poe","note":"x","kind":"Customer account deleted"}"#,
        )],
    );
}

#[test]
fn parts_of_texts() {
    holds(
        r#"{"ref":"refs/heads/main","repo":"octo/hello-world","sha":"6dcb09b5b57875f334f61aebed695e2e4193db5e","email":"jane@example.com","card":"4242424242424242"}"#,
        r#"{"branch":"main","owner":"octo","name":"hello-world","short":"6dcb09b","domain":"example.com","last4":"4242"}"#,
        &[(
            r#"{"ref":"refs/heads/fix/login","repo":"a/b","sha":"0123456789abcdef0123456789abcdef01234567","email":"x@y.org","card":"5555555555554444"}"#,
            r#"{"branch":"fix/login","owner":"a","name":"b","short":"0123456","domain":"y.org","last4":"4444"}"#,
        )],
    );
}

#[test]
fn the_first_line_of_a_text() {
    holds(
        r#"{"message":"Fix the login\n\nIt was broken."}"#,
        r#"{"title":"Fix the login"}"#,
        &[
            (r#"{"message":"One line"}"#, r#"{"title":"One line"}"#),
            (r#"{"message":"A\nB"}"#, r#"{"title":"A"}"#),
        ],
    );
}

#[test]
fn names_are_taken_apart() {
    holds(
        r#"{"customer":"Jane Roe","order":"ORD-1042"}"#,
        r#"{"first_name":"Jane","last_name":"Roe","order_number":1042}"#,
        &[(
            r#"{"customer":"Al Poe","order":"ORD-7"}"#,
            r#"{"first_name":"Al","last_name":"Poe","order_number":7}"#,
        )],
    );
}

#[test]
fn flags_follow_from_a_status() {
    holds(
        r#"{"id":"ch_1","status":"paid"}"#,
        r#"{"id":"ch_1","is_paid":true}"#,
        &[(r#"{"id":"ch_2","status":"pending"}"#, r#"{"id":"ch_2","is_paid":false}"#)],
    );
}

#[test]
fn flags_become_words() {
    holds(
        r#"{"subscribed":true,"active":true}"#,
        r#"{"subscribed":"yes","active":1}"#,
        &[(r#"{"subscribed":false,"active":false}"#, r#"{"subscribed":"no","active":0}"#)],
    );
}

#[test]
fn sums_of_fields() {
    holds(
        r#"{"subtotal":129.5,"shipping":12.25,"discount":20.1}"#,
        r#"{"total":141.75,"net":109.4}"#,
        &[(r#"{"subtotal":10.1,"shipping":0.2,"discount":1.1}"#, r#"{"total":10.3,"net":9}"#)],
    );
}

#[test]
fn absent_fields_leave_gaps_not_errors() {
    holds(
        r#"{"user":{"name":"Jane","address":{"city":"Riga"}},"amount":1999,"created":1714557600,"tags":["a","b"]}"#,
        r#"{"name":"Jane","city":"RIGA","amount":19.99,"at":"2024-05-01T10:00:00Z","tags":"a, b","text":"Jane from Riga paid 19.99"}"#,
        &[
            (r#"{}"#, r#"{"text":" from  paid "}"#),
            (
                r#"{"user":null,"amount":"x","created":{},"tags":7}"#,
                r#"{"text":" from  paid ","tags":""}"#,
            ),
            (
                r#"{"user":{"name":"Al","address":"none"}}"#,
                r#"{"name":"Al","text":"Al from  paid "}"#,
            ),
        ],
    );
}

#[test]
fn long_numbers_stay_exact() {
    use super::write;
    use webhook_core::model::Driver;
    let written = write(
        r#"{"id":9007199254740993}"#,
        r#"{"id":"9007199254740993"}"#,
        Driver::Lua,
        &Default::default(),
    );
    let code = written.expect("a function is found").code;
    if let Some(answer) =
        super::run_source(Driver::Lua, &code, "application/json", r#"{"id":9007199254740995}"#)
    {
        assert_eq!(answer.expect("it runs"), r#"{"id":"9007199254740995"}"#);
    }
}
