use super::*;

#[test]
fn the_built_in_defaults_are_good() {
    let config = Config::built_in();
    assert!(config.release.is_none() && config.interpolated);
    assert_eq!(config.cuda.switch, "VLLM_CI_KERNREC");
}

#[test]
fn tables_are_joined_and_lists_replaced() {
    let config = Config::parse("skip = []\n[never.profiler]\nkey = [\"x\"]\n").unwrap();
    assert!(config.skip.is_empty());
    let facts = |key: &str, label: &str| Facts {
        key: vec![key.to_owned()],
        label: vec![label.to_owned()],
        ..Facts::default()
    };
    let rule = &config.never["profiler"];
    assert!(rule.holds(&facts("x", "")).is_some());
    assert!(rule.holds(&facts("profile", "")).is_none());
    assert!(rule.holds(&facts("", "Profile")).is_some());
}
