//! Texts composed from fields around fixed words.

use super::holds;

#[test]
fn a_greeting() {
    holds(
        r#"{"name":"Jane","order":{"id":1042,"total":"19.90"}}"#,
        r#"{"text":"Hello Jane, your order #1042 over 19.90 EUR is on its way."}"#,
        &[(
            r#"{"name":"Al","order":{"id":7,"total":"5.00"}}"#,
            r#"{"text":"Hello Al, your order #7 over 5.00 EUR is on its way."}"#,
        )],
    );
}

#[test]
fn github_push_to_slack() {
    holds(
        r#"{"ref":"refs/heads/main","compare":"https://github.com/octo/hello/compare/a...b",
            "repository":{"id":1296269,"name":"hello","full_name":"octo/hello","private":false},
            "pusher":{"name":"octocat","email":"octocat@github.com"},
            "commits":[{"id":"6dcb09b5b57875f334f61aebed695e2e4193db5e","message":"Fix all the bugs","author":{"name":"Monalisa"}},
                       {"id":"7fd1a60b01f91b314f59955a4e4d4e80d8edf11d","message":"Add tests","author":{"name":"Hubot"}}]}"#,
        r#"{"text":"octocat pushed 2 commits to main in octo/hello",
            "attachments":[{"title":"6dcb09b","text":"Fix all the bugs","footer":"Monalisa"},
                           {"title":"7fd1a60","text":"Add tests","footer":"Hubot"}]}"#,
        &[(
            r#"{"ref":"refs/heads/dev","compare":"https://github.com/a/b/compare/x...y",
                "repository":{"id":9,"name":"b","full_name":"a/b","private":true},
                "pusher":{"name":"al","email":"al@example.com"},
                "commits":[{"id":"0123456789abcdef0123456789abcdef01234567","message":"Start","author":{"name":"Al"}}]}"#,
            r#"{"text":"al pushed 1 commits to dev in a/b","attachments":[{"title":"0123456","text":"Start","footer":"Al"}]}"#,
        )],
    );
}

#[test]
fn slack_blocks_with_links() {
    holds(
        r#"{"action":"opened","issue":{"number":1347,"title":"Found a bug","html_url":"https://github.com/octo/hello/issues/1347","user":{"login":"octocat"}},
            "repository":{"full_name":"octo/hello"}}"#,
        r#"{"blocks":[{"type":"section","text":{"type":"mrkdwn","text":"*<https://github.com/octo/hello/issues/1347|#1347 Found a bug>* opened by octocat"}},
                      {"type":"context","elements":[{"type":"mrkdwn","text":"octo/hello"}]}]}"#,
        &[(
            r#"{"action":"closed","issue":{"number":2,"title":"No logo","html_url":"https://github.com/a/b/issues/2","user":{"login":"al"}},
                "repository":{"full_name":"a/b"}}"#,
            r#"{"blocks":[{"type":"section","text":{"type":"mrkdwn","text":"*<https://github.com/a/b/issues/2|#2 No logo>* closed by al"}},
                          {"type":"context","elements":[{"type":"mrkdwn","text":"a/b"}]}]}"#,
        )],
    );
}

#[test]
fn converted_fields_inside_a_text() {
    holds(
        r#"{"amount":1999,"currency":"usd","created":1714557600,"customer":"Jane Roe"}"#,
        r#"{"content":"Payment of $19.99 USD from Jane Roe on 2024-05-01"}"#,
        &[(
            r#"{"amount":50,"currency":"eur","created":1700000000,"customer":"Al Poe"}"#,
            r#"{"content":"Payment of $0.50 EUR from Al Poe on 2023-11-14"}"#,
        )],
    );
}

#[test]
fn a_url_with_an_identifier() {
    holds(
        r#"{"id":1042,"shop":"acme"}"#,
        r#"{"url":"https://acme.example.com/orders/1042"}"#,
        &[(r#"{"id":7,"shop":"zoo"}"#, r#"{"url":"https://zoo.example.com/orders/7"}"#)],
    );
}

#[test]
fn short_values_do_not_break_words() {
    holds(
        r#"{"a":"or","b":"e","c":1,"name":"Jane"}"#,
        r#"{"text":"An order for Jane: more than 100 pieces"}"#,
        &[(
            r#"{"a":"x","b":"y","c":2,"name":"Al"}"#,
            r#"{"text":"An order for Al: more than 100 pieces"}"#,
        )],
    );
}

#[test]
fn a_list_joined_inside_a_text() {
    holds(
        r#"{"title":"Release 2","labels":[{"name":"bug"},{"name":"urgent"}],"reviewers":["jane","al"]}"#,
        r#"{"text":"Release 2 [bug, urgent] for jane and al","labels":"bug,urgent"}"#,
        &[(
            r#"{"title":"Release 3","labels":[{"name":"docs"}],"reviewers":["bo","cy","di"]}"#,
            r#"{"text":"Release 3 [docs] for bo and cy and di","labels":"docs"}"#,
        )],
    );
}

#[test]
fn a_line_for_every_element() {
    holds(
        r#"{"number":1042,"line_items":[{"title":"Shirt","quantity":2,"price":"19.90"},{"title":"Hat","quantity":1,"price":"9.50"}]}"#,
        r#"{"text":"Order #1042\n- 2 x Shirt (19.90)\n- 1 x Hat (9.50)\nThank you!"}"#,
        &[(
            r#"{"number":7,"line_items":[{"title":"Sock","quantity":12,"price":"1.00"},{"title":"Belt","quantity":3,"price":"8.00"},{"title":"Tie","quantity":1,"price":"7.00"}]}"#,
            r#"{"text":"Order #7\n- 12 x Sock (1.00)\n- 3 x Belt (8.00)\n- 1 x Tie (7.00)\nThank you!"}"#,
        )],
    );
}

#[test]
fn elements_in_one_line() {
    holds(
        r#"{"customer":"Jane","items":[{"sku":"SH-1","qty":2},{"sku":"HA-2","qty":1}]}"#,
        r#"{"summary":"Jane bought: 2x SH-1, 1x HA-2"}"#,
        &[(
            r#"{"customer":"Al","items":[{"sku":"SO-9","qty":5}]}"#,
            r#"{"summary":"Al bought: 5x SO-9"}"#,
        )],
    );
}

#[test]
fn a_plain_text_is_wanted() {
    let [lua, _] = holds(
        r#"{"host":"web-1","status":"down","since":"2024-05-01T10:00:00Z"}"#,
        "web-1 is down since 2024-05-01 10:00",
        &[(
            r#"{"host":"db-2","status":"up","since":"2023-11-14T22:13:20Z"}"#,
            "db-2 is up since 2023-11-14 22:13",
        )],
    );
    assert!(
        lua.contains(r#"r:SetRequestHeader("Content-Type", "text/plain; charset=utf-8")"#),
        "{lua}"
    );
}

#[test]
fn odd_characters_survive() {
    holds(
        "{\"na\\\"me\":\"J`a${n}\",\"end\":\"x\\ny\",\"é\":\"ü\"}",
        "{\"text\":\"`J`a${n}` \\\\ \\u0001 ü $\",\"local\":\"x\\ny\",\"a b\":\"ü\"}",
        &[(
            "{\"na\\\"me\":\"Al\",\"end\":\"z\",\"é\":\"q\"}",
            "{\"text\":\"`Al` \\\\ \\u0001 q $\",\"local\":\"z\",\"a b\":\"q\"}",
        )],
    );
}
