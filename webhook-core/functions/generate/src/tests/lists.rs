//! Lists: mapped, filtered, flattened, and made into objects and back.

use super::holds;

#[test]
fn elements_are_mapped_with_an_outer_field() {
    holds(
        r#"{"order_id":"A-1","items":[{"sku":"X","n":2},{"sku":"Y","n":1},{"sku":"Z","n":4}]}"#,
        r#"[{"order":"A-1","product":"X","quantity":2},{"order":"A-1","product":"Y","quantity":1},{"order":"A-1","product":"Z","quantity":4}]"#,
        &[
            (
                r#"{"order_id":"B","items":[{"sku":"Q","n":9}]}"#,
                r#"[{"order":"B","product":"Q","quantity":9}]"#,
            ),
            (r#"{"order_id":"C","items":[]}"#, "[]"),
            (r#"{"order_id":"D"}"#, "[]"),
        ],
    );
}

#[test]
fn scalars_are_plucked() {
    holds(
        r#"{"users":[{"id":1,"email":"a@example.com"},{"id":2,"email":"b@example.com"}]}"#,
        r#"{"recipients":["a@example.com","b@example.com"],"ids":[1,2]}"#,
        &[(
            r#"{"users":[{"id":7,"email":"c@example.com"},{"id":8}]}"#,
            r#"{"recipients":["c@example.com"],"ids":[7,8]}"#,
        )],
    );
}

#[test]
fn scalars_become_objects() {
    holds(
        r#"{"tags":["red","blue"]}"#,
        r#"{"labels":[{"name":"red","shown":"RED"},{"name":"blue","shown":"BLUE"}]}"#,
        &[(r#"{"tags":["green"]}"#, r#"{"labels":[{"name":"green","shown":"GREEN"}]}"#)],
    );
}

#[test]
fn one_element_is_still_a_list() {
    holds(
        r#"{"shop":"acme","line_items":[{"sku":"X-1","title":"Shirt","quantity":2}]}"#,
        r#"{"lines":[{"sku":"X-1","name":"Shirt","qty":2}]}"#,
        &[(
            r#"{"shop":"acme","line_items":[{"sku":"Y","title":"Hat","quantity":1},{"sku":"Z","title":"Belt","quantity":3}]}"#,
            r#"{"lines":[{"sku":"Y","name":"Hat","qty":1},{"sku":"Z","name":"Belt","qty":3}]}"#,
        )],
    );
}

#[test]
fn elements_are_numbered() {
    holds(
        r#"{"steps":["wash","dry","fold"]}"#,
        r#"{"steps":[{"no":1,"what":"wash"},{"no":2,"what":"dry"},{"no":3,"what":"fold"}]}"#,
        &[(r#"{"steps":["cut"]}"#, r#"{"steps":[{"no":1,"what":"cut"}]}"#)],
    );
}

#[test]
fn elements_are_filtered() {
    holds(
        r#"{"users":[{"name":"Ann","role":"admin","active":true},{"name":"Bo","role":"guest","active":false},{"name":"Cy","role":"admin","active":true}]}"#,
        r#"{"active_users":["Ann","Cy"]}"#,
        &[(
            r#"{"users":[{"name":"Di","role":"guest","active":true},{"name":"Ed","role":"admin","active":false}]}"#,
            r#"{"active_users":["Di"]}"#,
        )],
    );
}

#[test]
fn elements_are_filtered_by_a_text() {
    holds(
        r#"{"checks":[{"id":"c1","state":"failed","ms":12},{"id":"c2","state":"passed","ms":9},{"id":"c3","state":"failed","ms":7}]}"#,
        r#"{"failures":[{"check":"c1","took":12},{"check":"c3","took":7}]}"#,
        &[(
            r#"{"checks":[{"id":"d1","state":"passed","ms":1},{"id":"d2","state":"failed","ms":2}]}"#,
            r#"{"failures":[{"check":"d2","took":2}]}"#,
        )],
    );
}

#[test]
fn nested_lists_are_flattened() {
    holds(
        r#"{"orders":[{"id":"A","lines":[{"sku":"x"},{"sku":"y"}]},{"id":"B","lines":[{"sku":"z"}]}]}"#,
        r#"{"rows":[{"order":"A","sku":"x"},{"order":"A","sku":"y"},{"order":"B","sku":"z"}]}"#,
        &[(
            r#"{"orders":[{"id":"C","lines":[]},{"id":"D","lines":[{"sku":"q"},{"sku":"r"}]}]}"#,
            r#"{"rows":[{"order":"D","sku":"q"},{"order":"D","sku":"r"}]}"#,
        )],
    );
}

#[test]
fn lists_in_lists() {
    holds(
        r#"{"teams":[{"name":"red","members":[{"login":"ann"},{"login":"bo"}]},{"name":"blue","members":[{"login":"cy"}]}]}"#,
        r#"{"groups":[{"title":"red","people":["ann","bo"],"size":2},{"title":"blue","people":["cy"],"size":1}]}"#,
        &[(
            r#"{"teams":[{"name":"green","members":[]}]}"#,
            r#"{"groups":[{"title":"green","people":[],"size":0}]}"#,
        )],
    );
}

#[test]
fn pairs_become_fields() {
    holds(
        r#"{"attributes":[{"name":"color","value":"red"},{"name":"size","value":"L"},{"name":"fit","value":"slim"}]}"#,
        r#"{"attributes":{"color":"red","size":"L","fit":"slim"}}"#,
        &[
            (
                r#"{"attributes":[{"name":"width","value":"20"}]}"#,
                r#"{"attributes":{"width":"20"}}"#,
            ),
            (r#"{"attributes":[{"value":"20"},{"name":"x"}]}"#, r#"{"attributes":{}}"#),
        ],
    );
}

#[test]
fn fields_become_pairs() {
    holds(
        r#"{"properties":{"color":"red","fit":"slim","size":"L"}}"#,
        r#"{"fields":[{"title":"color","value":"red"},{"title":"fit","value":"slim"},{"title":"size","value":"L"}]}"#,
        &[(r#"{"properties":{"width":"20"}}"#, r#"{"fields":[{"title":"width","value":"20"}]}"#)],
    );
}

#[test]
fn fixed_elements_with_titles() {
    holds(
        r#"{"repo":"hello","branch":"main","env":{"name":"production"},"by":"ann"}"#,
        r#"{"fields":[{"title":"Branch","value":"main","short":true},{"title":"Environment","value":"production","short":true},{"title":"By","value":"ann","short":false}]}"#,
        &[(
            r#"{"repo":"x","branch":"dev","env":{"name":"staging"},"by":"bo"}"#,
            r#"{"fields":[{"title":"Branch","value":"dev","short":true},{"title":"Environment","value":"staging","short":true},{"title":"By","value":"bo","short":false}]}"#,
        )],
    );
}

#[test]
fn a_header_before_the_mapped_elements() {
    holds(
        r#"{"title":"Weekly report","rows":[{"label":"Visits","count":120},{"label":"Orders","count":17}]}"#,
        r#"{"blocks":[{"type":"header","text":"Weekly report"},{"type":"section","text":"Visits: 120"},{"type":"section","text":"Orders: 17"},{"type":"divider","text":""}]}"#,
        &[(
            r#"{"title":"Daily report","rows":[{"label":"Visits","count":9},{"label":"Orders","count":1},{"label":"Returns","count":0}]}"#,
            r#"{"blocks":[{"type":"header","text":"Daily report"},{"type":"section","text":"Visits: 9"},{"type":"section","text":"Orders: 1"},{"type":"section","text":"Returns: 0"},{"type":"divider","text":""}]}"#,
        )],
    );
}

#[test]
fn a_text_becomes_a_list() {
    holds(
        r#"{"tags":"red, blue, light green"}"#,
        r#"{"tags":["red","blue","light green"]}"#,
        &[(r#"{"tags":"one"}"#, r#"{"tags":["one"]}"#), (r#"{"tags":""}"#, r#"{"tags":[]}"#)],
    );
}

#[test]
fn codes_become_words() {
    holds(
        r#"{"jobs":[{"id":"j1","s":"A"},{"id":"j2","s":"B"},{"id":"j3","s":"A"},{"id":"j4","s":"B"}]}"#,
        r#"{"jobs":[{"id":"j1","state":"Active"},{"id":"j2","state":"Blocked"},{"id":"j3","state":"Active"},{"id":"j4","state":"Blocked"}]}"#,
        &[(r#"{"jobs":[{"id":"k","s":"B"}]}"#, r#"{"jobs":[{"id":"k","state":"Blocked"}]}"#)],
    );
}

#[test]
fn flags_from_a_comparison_in_every_element() {
    holds(
        r#"{"users":[{"n":"ann","role":"admin"},{"n":"bo","role":"guest"},{"n":"cy","role":"admin"}]}"#,
        r#"{"users":[{"name":"ann","can_edit":true},{"name":"bo","can_edit":false},{"name":"cy","can_edit":true}]}"#,
        &[(
            r#"{"users":[{"n":"di","role":"owner"}]}"#,
            r#"{"users":[{"name":"di","can_edit":false}]}"#,
        )],
    );
}

#[test]
fn absent_fields_have_a_default() {
    holds(
        r#"{"items":[{"sku":"x","note":"fragile"},{"sku":"y"},{"sku":"z","note":"cold"}]}"#,
        r#"{"items":[{"id":"x","remark":"fragile"},{"id":"y","remark":"none"},{"id":"z","remark":"cold"}]}"#,
        &[(r#"{"items":[{"sku":"q","note":null}]}"#, r#"{"items":[{"id":"q","remark":"none"}]}"#)],
    );
}

#[test]
fn optional_fields_stay_optional() {
    holds(
        r#"{"items":[{"sku":"x","note":"fragile"},{"sku":"y"}]}"#,
        r#"{"items":[{"id":"x","remark":"fragile"},{"id":"y"}]}"#,
        &[(
            r#"{"items":[{"sku":"p"},{"sku":"q","note":"wet"}]}"#,
            r#"{"items":[{"id":"p"},{"id":"q","remark":"wet"}]}"#,
        )],
    );
}

#[test]
fn the_first_and_the_last_element() {
    holds(
        r#"{"history":[{"state":"new","at":"2024-05-01"},{"state":"packed","at":"2024-05-02"},{"state":"sent","at":"2024-05-03"}]}"#,
        r#"{"first_state":"new","current":"sent"}"#,
        &[(
            r#"{"history":[{"state":"draft","at":"2024-05-01"},{"state":"done","at":"2024-05-02"}]}"#,
            r#"{"first_state":"draft","current":"done"}"#,
        )],
    );
}

#[test]
fn whole_lists_are_copied() {
    holds(
        r#"{"data":{"rows":[[1,2],[3,4]],"empty":[]}}"#,
        r#"{"matrix":[[1,2],[3,4]],"empty":[]}"#,
        &[(r#"{"data":{"rows":[],"empty":[1]}}"#, r#"{"matrix":[],"empty":[1]}"#)],
    );
}
