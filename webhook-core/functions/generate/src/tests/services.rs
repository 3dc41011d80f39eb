//! Payloads as well-known services send them, to messages and records that people want.

use super::holds;

#[test]
fn alertmanager_to_slack() {
    holds(
        r#"{"version":"4","groupKey":"{}:{alertname=\"HighLatency\"}","status":"firing","receiver":"slack","groupLabels":{"alertname":"HighLatency"},"commonLabels":{"alertname":"HighLatency","severity":"critical"},
            "externalURL":"http://alertmanager.example.com:9093","alerts":[
            {"status":"firing","labels":{"alertname":"HighLatency","instance":"web-1:8080","severity":"critical"},"annotations":{"summary":"Latency above 2s"},"startsAt":"2024-05-01T10:00:00Z","endsAt":"0001-01-01T00:00:00Z"},
            {"status":"firing","labels":{"alertname":"HighLatency","instance":"web-2:8080","severity":"critical"},"annotations":{"summary":"Latency above 3s"},"startsAt":"2024-05-01T10:05:00Z","endsAt":"0001-01-01T00:00:00Z"}]}"#,
        r#"{"channel":"ops-alerts","text":"[FIRING:2] HighLatency (critical)","attachments":[
            {"color":"danger","title":"web-1:8080","text":"Latency above 2s since 2024-05-01 10:00"},
            {"color":"danger","title":"web-2:8080","text":"Latency above 3s since 2024-05-01 10:05"}]}"#,
        &[(
            r#"{"version":"4","groupKey":"x","status":"resolved","receiver":"slack","groupLabels":{"alertname":"DiskFull"},"commonLabels":{"alertname":"DiskFull","severity":"warning"},
                "externalURL":"http://a","alerts":[{"status":"resolved","labels":{"alertname":"DiskFull","instance":"db-1","severity":"warning"},"annotations":{"summary":"Disk at 99%"},"startsAt":"2023-11-14T22:13:20Z","endsAt":"2023-11-15T00:00:00Z"}]}"#,
            r#"{"channel":"ops-alerts","text":"[RESOLVED:1] DiskFull (warning)","attachments":[{"color":"danger","title":"db-1","text":"Disk at 99% since 2023-11-14 22:13"}]}"#,
        )],
    );
}

#[test]
fn typeform_answers_to_a_record() {
    holds(
        r#"{"event_id":"01HX","event_type":"form_response","form_response":{"form_id":"lT4Z3j","token":"a3a12ec67a1365927098a606107fac15","submitted_at":"2018-01-18T18:17:02Z",
            "answers":[{"type":"text","text":"Laura Palmer","field":{"id":"JwWggjAKtOkA","type":"short_text","ref":"name"}},
                       {"type":"email","email":"laura@example.com","field":{"id":"SMEUb7VJz92Q","type":"email","ref":"email"}},
                       {"type":"number","number":42,"field":{"id":"Kn7","type":"number","ref":"age"}}]}}"#,
        r#"{"form":"lT4Z3j","response":"a3a12ec67a1365927098a606107fac15","submitted":1516299422,"name":"Laura Palmer","email":"laura@example.com","age":42}"#,
        &[(
            r#"{"event_id":"2","event_type":"form_response","form_response":{"form_id":"zz","token":"t2","submitted_at":"2024-05-01T10:00:00Z",
                "answers":[{"type":"text","text":"Dale Cooper","field":{"id":"a","type":"short_text","ref":"name"}},
                           {"type":"email","email":"dale@example.com","field":{"id":"b","type":"email","ref":"email"}},
                           {"type":"number","number":35,"field":{"id":"c","type":"number","ref":"age"}}]}}"#,
            r#"{"form":"zz","response":"t2","submitted":1714557600,"name":"Dale Cooper","email":"dale@example.com","age":35}"#,
        )],
    );
}

#[test]
fn github_pull_request_to_discord() {
    holds(
        r#"{"action":"opened","number":17,"pull_request":{"url":"https://api.github.com/repos/octo/hello/pulls/17","html_url":"https://github.com/octo/hello/pull/17","state":"open","title":"Add retries","body":"Retries with backoff.",
            "user":{"login":"octocat","avatar_url":"https://avatars.example.com/u/583231"},"head":{"ref":"retries","sha":"ec26c3e57ca3a959ca5aad62de7213c562f8c821"},"base":{"ref":"main"},"additions":120,"deletions":14,"changed_files":5,"draft":false},
            "repository":{"id":1,"name":"hello","full_name":"octo/hello"},"sender":{"login":"octocat"}}"#,
        r#"{"username":"GitHub","embeds":[{"title":"octo/hello #17: Add retries","url":"https://github.com/octo/hello/pull/17","description":"Retries with backoff.","color":3066993,
            "author":{"name":"octocat","icon_url":"https://avatars.example.com/u/583231"},
            "fields":[{"name":"Branch","value":"retries → main","inline":true},{"name":"Changes","value":"+120 / -14 in 5 files","inline":true}]}]}"#,
        &[(
            r#"{"action":"opened","number":3,"pull_request":{"url":"https://api.github.com/x","html_url":"https://github.com/a/b/pull/3","state":"open","title":"Fix","body":"None.",
                "user":{"login":"al","avatar_url":"https://avatars.example.com/u/1"},"head":{"ref":"fix","sha":"0"},"base":{"ref":"develop"},"additions":1,"deletions":2,"changed_files":1,"draft":true},
                "repository":{"id":2,"name":"b","full_name":"a/b"},"sender":{"login":"al"}}"#,
            r#"{"username":"GitHub","embeds":[{"title":"a/b #3: Fix","url":"https://github.com/a/b/pull/3","description":"None.","color":3066993,
                "author":{"name":"al","icon_url":"https://avatars.example.com/u/1"},
                "fields":[{"name":"Branch","value":"fix → develop","inline":true},{"name":"Changes","value":"+1 / -2 in 1 files","inline":true}]}]}"#,
        )],
    );
}

#[test]
fn twilio_form_to_a_ticket() {
    holds(
        "ToCountry=US&SmsMessageSid=SM1f0e8ae6ade43cb3c0ce4525424e404f&NumMedia=0&FromZip=94949&SmsSid=SM1f0e8ae6ade43cb3c0ce4525424e404f&FromState=CA&SmsStatus=received&FromCity=NOVATO&Body=My+order+is+late&FromCountry=US&To=%2B15005550006&MessageSid=SM1f0e8ae6ade43cb3c0ce4525424e404f&AccountSid=AC123&From=%2B14155552671&ApiVersion=2010-04-01",
        r#"{"ticket":{"subject":"SMS from +14155552671","description":"My order is late","external_id":"SM1f0e8ae6ade43cb3c0ce4525424e404f","channel":"sms","requester":{"phone":"+14155552671","city":"Novato"}}}"#,
        &[(
            "ToCountry=GB&SmsMessageSid=SM2&NumMedia=1&FromZip=1&SmsSid=SM2&FromState=X&SmsStatus=received&FromCity=LEEDS&Body=Hi&FromCountry=GB&To=%2B442&MessageSid=SM2&AccountSid=AC9&From=%2B441&ApiVersion=2010-04-01",
            r#"{"ticket":{"subject":"SMS from +441","description":"Hi","external_id":"SM2","channel":"sms","requester":{"phone":"+441","city":"Leeds"}}}"#,
        )],
    );
}

#[test]
fn calendar_booking_to_a_contact() {
    holds(
        r#"{"event":"invitee.created","time":"2020-03-19T03:12:18Z","payload":{"event_type":{"name":"Intro call","duration":30},"event":{"uuid":"BBBB","start_time":"2020-03-20T14:00:00Z","end_time":"2020-03-20T14:30:00Z","assigned_to":["Jane Sample Data"]},
            "invitee":{"uuid":"AAAA","first_name":"Joe","last_name":"Sample","name":"Joe Sample","email":"joe@example.com","timezone":"UTC"},"questions_and_answers":[{"question":"Skype ID","answer":"fake_skype"},{"question":"Company","answer":"Acme Ltd"}]}}"#,
        r#"{"contact":{"full_name":"Joe Sample","email":"joe@example.com"},"meeting":{"title":"Intro call with Jane Sample Data","date":"20/03/2020","start":"14:00","end":"14:30","minutes":30},
            "answers":{"Skype ID":"fake_skype","Company":"Acme Ltd"}}"#,
        &[(
            r#"{"event":"invitee.created","time":"2024-05-01T10:00:00Z","payload":{"event_type":{"name":"Demo","duration":45},"event":{"uuid":"CC","start_time":"2024-05-02T09:15:00Z","end_time":"2024-05-02T10:00:00Z","assigned_to":["Al Poe"]},
                "invitee":{"uuid":"DD","first_name":"Bo","last_name":"Lee","name":"Bo Lee","email":"bo@example.com","timezone":"UTC"},"questions_and_answers":[{"question":"Budget","answer":"none"}]}}"#,
            r#"{"contact":{"full_name":"Bo Lee","email":"bo@example.com"},"meeting":{"title":"Demo with Al Poe","date":"02/05/2024","start":"09:15","end":"10:00","minutes":45},"answers":{"Budget":"none"}}"#,
        )],
    );
}

#[test]
fn woocommerce_to_an_invoice() {
    holds(
        r#"{"id":727,"number":"727","status":"processing","currency":"USD","date_created_gmt":"2017-03-22T19:28:02","discount_total":"0.00","shipping_total":"10.00","total":"29.35","total_tax":"1.35",
            "billing":{"first_name":"John","last_name":"Doe","address_1":"969 Market","city":"San Francisco","postcode":"94103","country":"US","email":"john.doe@example.com"},
            "line_items":[{"id":315,"name":"Woo Single #1","product_id":93,"quantity":2,"subtotal":"6.00","sku":"W1","price":3},{"id":316,"name":"Ship Your Idea","product_id":22,"quantity":1,"subtotal":"12.00","sku":"S2","price":12}]}"#,
        r#"{"invoice":{"reference":"WC-727","issued_on":"2017-03-22","customer":"John Doe","address":"969 Market, 94103 San Francisco, US","gross":29.35,
            "positions":[{"pos":1,"text":"2 × Woo Single #1","unit_price":3.0,"amount":6.0},{"pos":2,"text":"1 × Ship Your Idea","unit_price":12.0,"amount":12.0}]}}"#,
        &[(
            r#"{"id":9,"number":"9","status":"completed","currency":"EUR","date_created_gmt":"2024-05-01T10:00:00","discount_total":"1.00","shipping_total":"0.00","total":"11.90","total_tax":"1.90",
                "billing":{"first_name":"Ann","last_name":"Lee","address_1":"Main 1","city":"Riga","postcode":"LV-1010","country":"LV","email":"a@example.com"},
                "line_items":[{"id":1,"name":"Pen","product_id":2,"quantity":4,"subtotal":"10.00","sku":"P","price":2.5}]}"#,
            r#"{"invoice":{"reference":"WC-9","issued_on":"2024-05-01","customer":"Ann Lee","address":"Main 1, LV-1010 Riga, LV","gross":11.9,
                "positions":[{"pos":1,"text":"4 × Pen","unit_price":2.5,"amount":10}]}}"#,
        )],
    );
}

#[test]
fn sentry_issue_to_a_chat_card() {
    holds(
        r#"{"action":"created","data":{"issue":{"id":"1170820242","shortId":"FRONT-END-7","title":"ReferenceError: heck is not defined","culprit":"?(runner)","level":"error","count":"1","userCount":0,"firstSeen":"2019-08-19T23:36:45Z","project":{"name":"front-end","slug":"front-end"},"metadata":{"type":"ReferenceError","value":"heck is not defined"}}},"actor":{"name":"Sentry"}}"#,
        r#"{"cards":[{"header":{"title":"FRONT-END-7","subtitle":"ERROR in front-end"},"sections":[{"widgets":[{"keyValue":{"topLabel":"Error","content":"ReferenceError: heck is not defined"}},{"keyValue":{"topLabel":"First seen","content":"Aug 19, 2019 23:36"}}]}]}]}"#,
        &[(
            r#"{"action":"created","data":{"issue":{"id":"2","shortId":"API-1","title":"TypeError: x","culprit":"main","level":"warning","count":"5","userCount":2,"firstSeen":"2024-05-01T10:00:00Z","project":{"name":"api","slug":"api"},"metadata":{"type":"TypeError","value":"x"}}},"actor":{"name":"Sentry"}}"#,
            r#"{"cards":[{"header":{"title":"API-1","subtitle":"WARNING in api"},"sections":[{"widgets":[{"keyValue":{"topLabel":"Error","content":"TypeError: x"}},{"keyValue":{"topLabel":"First seen","content":"May 1, 2024 10:00"}}]}]}]}"#,
        )],
    );
}

#[test]
fn device_readings_to_measurements() {
    holds(
        r#"{"end_device_ids":{"device_id":"dev-17","application_ids":{"application_id":"greenhouse"}},"received_at":"2024-05-01T10:00:00.123Z","uplink_message":{"f_port":1,"decoded_payload":{"battery":3.61,"humidity":48.5,"temperature":21.4},"rx_metadata":[{"gateway_ids":{"gateway_id":"gw-1"},"rssi":-71}]}}"#,
        r#"{"device":"dev-17","application":"greenhouse","ts":1714557600123,"gateway":"gw-1","rssi":-71,"measurements":[{"name":"battery","value":3.61},{"name":"humidity","value":48.5},{"name":"temperature","value":21.4}]}"#,
        &[(
            r#"{"end_device_ids":{"device_id":"dev-2","application_ids":{"application_id":"cellar"}},"received_at":"2023-11-14T22:13:20.5Z","uplink_message":{"f_port":2,"decoded_payload":{"co2":412},"rx_metadata":[{"gateway_ids":{"gateway_id":"gw-9"},"rssi":-99},{"gateway_ids":{"gateway_id":"gw-8"},"rssi":-100}]}}"#,
            r#"{"device":"dev-2","application":"cellar","ts":1700000000500,"gateway":"gw-9","rssi":-99,"measurements":[{"name":"co2","value":412}]}"#,
        )],
    );
}

#[test]
fn soap_notification_to_json() {
    holds(
        r#"<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body><notifications xmlns="http://soap.example.com/2005/09/outbound"><OrganizationId>00D1</OrganizationId><Notification><Id>04l1</Id><sObject type="Lead"><Email>jane@example.com</Email><FirstName>Jane</FirstName><LastName>Roe</LastName><Status>Open</Status></sObject></Notification></notifications></soapenv:Body></soapenv:Envelope>"#,
        r#"{"org":"00D1","notification_id":"04l1","object_type":"lead","person":{"name":"Jane Roe","email":"jane@example.com"},"status":"Open"}"#,
        &[(
            r#"<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body><notifications xmlns="http://soap.example.com/2005/09/outbound"><OrganizationId>00D2</OrganizationId><Notification><Id>04l2</Id><sObject type="Contact"><Email>al@example.com</Email><FirstName>Al</FirstName><LastName>Poe</LastName><Status>Closed</Status></sObject></Notification></notifications></soapenv:Body></soapenv:Envelope>"#,
            r#"{"org":"00D2","notification_id":"04l2","object_type":"contact","person":{"name":"Al Poe","email":"al@example.com"},"status":"Closed"}"#,
        )],
    );
}

#[test]
fn build_result_to_a_status() {
    holds(
        r#"{"name":"deploy","build":{"full_url":"https://ci.example.com/job/deploy/18/","number":18,"phase":"COMPLETED","status":"SUCCESS","scm":{"branch":"origin/main","commit":"c6d86dc654b12425e706bcf951adfe5a8627a517"},"duration":84500}}"#,
        r#"{"state":"success","target_url":"https://ci.example.com/job/deploy/18/","description":"deploy #18 finished in 84.5s","context":"ci/deploy","branch":"main","sha":"c6d86dc654b12425e706bcf951adfe5a8627a517"}"#,
        &[(
            r#"{"name":"test","build":{"full_url":"https://ci.example.com/job/test/2/","number":2,"phase":"COMPLETED","status":"FAILURE","scm":{"branch":"origin/dev","commit":"aa"},"duration":1500}}"#,
            r#"{"state":"failure","target_url":"https://ci.example.com/job/test/2/","description":"test #2 finished in 1.5s","context":"ci/test","branch":"dev","sha":"aa"}"#,
        )],
    );
}

#[test]
fn mailing_list_events() {
    holds(
        r#"[{"email":"a@example.com","timestamp":1714557600,"event":"delivered","sg_message_id":"m1.filter","category":["welcome"]},{"email":"b@example.com","timestamp":1714557661,"event":"open","sg_message_id":"m2.filter","category":["news"]},{"email":"c@example.com","timestamp":1714557700,"event":"bounce","sg_message_id":"m3.filter","category":["news"]}]"#,
        r#"{"events":[{"to":"a@example.com","kind":"Delivered","at":"2024-05-01T10:00:00Z","message":"m1","tag":"welcome"},{"to":"b@example.com","kind":"Open","at":"2024-05-01T10:01:01Z","message":"m2","tag":"news"},{"to":"c@example.com","kind":"Bounce","at":"2024-05-01T10:01:40Z","message":"m3","tag":"news"}],"count":3}"#,
        &[(
            r#"[{"email":"z@example.com","timestamp":1700000000,"event":"click","sg_message_id":"x9.filter","category":["sale"]}]"#,
            r#"{"events":[{"to":"z@example.com","kind":"Click","at":"2023-11-14T22:13:20Z","message":"x9","tag":"sale"}],"count":1}"#,
        )],
    );
}
