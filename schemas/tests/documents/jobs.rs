//! The jobs list.

use kernrec_schemas::JobId;
use kernrec_schemas::jobs::JobsList;

fn refusal(text: &str) -> String {
    JobsList::parse(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn jobs_are_found_by_id_and_listed_in_order() {
    let text = r#"[{"id":"b","state":"passed","step_key":"two"},{"id":"a","state":"failed","step_key":"","web_url":"x"},
        {"id":"c","state":null,"step_key":null},{"id":"d"}]"#;
    let jobs = JobsList::parse(text.as_bytes()).unwrap();
    assert_eq!(jobs.iter().count(), 4);
    let ids: Vec<&str> = jobs.iter().map(|job| job.id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "c", "d"]);
    let find = |id: &str| jobs.find(&JobId::new(id).unwrap());
    assert_eq!(find("b").unwrap().passed(), Some(true));
    assert_eq!(
        find("b").unwrap().step_key.as_ref().unwrap().as_str(),
        "two"
    );
    assert_eq!(find("a").unwrap().passed(), Some(false));
    assert_eq!(find("a").unwrap().step_key, None);
    assert_eq!(find("c").unwrap().passed(), None);
    assert_eq!(find("d").unwrap().passed(), None);
    assert_eq!(find("x"), None);
}

#[test]
fn a_list_of_no_jobs_is_refused() {
    assert!(refusal("[]").contains("it lists no job"));
}

#[test]
fn refusals_name_the_place() {
    assert!(refusal(r#"[{"id":"a"},{"id":"a"}]"#).contains("[1].id: job `a` stands twice"));
    assert!(refusal("{}").contains("line 1"));
    assert!(refusal(r#"[{"state":"passed"}]"#).contains("missing field `id`"));
    assert!(refusal(r#"[{"id":""}]"#).contains("job id"));
    assert!(refusal(r#"[{"id":7}]"#).contains("line 1"));
    assert!(refusal(r#"[{"id":"a","step_key":"x\ny"}]"#).contains("step key"));
    assert!(refusal(r#"[{"id":"a","state":true}]"#).contains("line 1"));
    assert!(refusal(r#"[{"id":"a","id":"b"}]"#).contains("duplicate"));
    assert!(refusal(r#"[["a","passed","x"]]"#).contains("line 1"));
    assert!(refusal("[] []").contains("trailing"));
}
