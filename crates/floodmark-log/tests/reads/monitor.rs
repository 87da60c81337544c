//! What real servers printed to `redis-cli monitor`, against counts that were made apart.

use crate::common::{data, read};
use floodmark_log::{Options, Skip};
use serde_json::Value;
use std::collections::BTreeMap;

/// How often each key of a capture occurs, with its lines by reason.
fn counts(path: &str, key: &str, lua: bool) -> Option<(BTreeMap<String, u64>, BTreeMap<Skip, u64>)> {
    let text = std::fs::read(data(path)?).unwrap();
    let options = Options { key: Some(key.into()), lua, ..Options::default() };
    let (events, tally) = read(&text, &options).unwrap();
    let mut counts = BTreeMap::new();
    for event in events {
        *counts.entry(String::from_utf8_lossy(&event.key).into_owned()).or_insert(0) += event.n;
    }
    Some((counts, tally.skipped))
}

/// The highest first, ties by key.
fn top(counts: &BTreeMap<String, u64>, k: usize) -> Vec<(String, u64)> {
    let mut top: Vec<_> = counts.iter().map(|(key, n)| (key.clone(), *n)).collect();
    top.sort_by(|(a, x), (b, y)| y.cmp(x).then_with(|| a.cmp(b)));
    top.truncate(k);
    top
}

fn pairs(list: &Value) -> Vec<(String, u64)> {
    serde_json::from_value(list.clone()).unwrap()
}

/// Every number of the expected counts, for one server's capture in one of its two forms.
#[track_caller]
fn check(server: &str, form: &str) {
    let path = format!("redis/monitor_{server}_{form}");
    let Some(expected) = data("redis/expected_counts.json") else { return };
    let expected: Value = serde_json::from_slice(&std::fs::read(expected).unwrap()).unwrap();
    let expected = &expected[server];
    let Some((keys, skipped)) = counts(&path, "key", false) else { return };
    let lines = &expected["lines"];
    assert_eq!(skipped[&Skip::Lua], lines["lua"].as_u64().unwrap());
    assert_eq!(skipped[&Skip::Header], lines["OK"].as_u64().unwrap());
    assert!(skipped.keys().all(|skip| skip.is_harmless()), "{skipped:?}");
    let client_issued = pairs(&expected["client_issued_key_accesses_top15"]);
    assert_eq!(top(&keys, client_issued.len()), client_issued);
    // What scripts called: what there is more with them than without them.
    let (mut with_lua, _) = counts(&path, "key", true).unwrap();
    keys.iter().for_each(|(key, n)| *with_lua.get_mut(key).unwrap() -= n);
    let inner = pairs(&expected["inner_lua_key_accesses_top5"]);
    assert_eq!(top(&with_lua, inner.len()), inner);
    for (field, name) in [("command", "commands"), ("db", "db")] {
        let expected: BTreeMap<String, u64> = serde_json::from_value(expected[name].clone()).unwrap();
        assert_eq!(counts(&path, field, true).unwrap().0, expected, "{field}");
    }
    let (clients, _) = counts(&path, "client", true).unwrap();
    let of = |is: &dyn Fn(&str) -> bool| {
        clients.iter().filter(|(client, _)| is(client)).map(|(_, n)| n).sum::<u64>()
    };
    assert_eq!(of(&|client| client.starts_with("unix:")), lines["unix"].as_u64().unwrap());
    assert_eq!(of(&|client| client.starts_with('[')), lines["ipv6"].as_u64().unwrap());
    assert_eq!(of(&|client| client == "lua"), lines["lua"].as_u64().unwrap());
    assert!(!clients.keys().chain(keys.keys()).any(|text| text.contains("secret")));
}

#[test]
fn the_keys_of_redis_6_as_its_client_prints_them_are_counted_exactly() {
    check("redis-6.2.5", "redis-cli.txt");
}

#[test]
fn the_keys_of_redis_6_as_it_sends_them_are_counted_exactly() {
    check("redis-6.2.5", "raw_resp.bin");
}

#[test]
fn the_keys_of_redis_7_as_its_client_prints_them_are_counted_exactly() {
    check("redis-7.0.15", "redis-cli.txt");
}

#[test]
fn the_keys_of_redis_7_as_it_sends_them_are_counted_exactly() {
    check("redis-7.0.15", "raw_resp.bin");
}

#[test]
fn odd_keys_are_keys_like_others() {
    let Some((keys, _)) = counts("redis/monitor_redis-7.0.15_redis-cli.txt", "key", false) else { return };
    for key in
        ["", " ", "\"", "\\", "] \"", "[0 127.0.0.1:1] \"GET\" \"x\"", "\n", "\0", "\\x00", "🔥", "键:1"]
    {
        assert!(keys.get(key).is_some_and(|n| *n >= 2), "{key:?}");
    }
    assert!(keys.keys().any(|key| key.len() == 5_000));
}

#[test]
fn the_keys_of_a_script_are_those_of_its_call() {
    let Some((keys, skipped)) = counts("redis/spring_gateway_ratelimiter.txt", "key", false) else { return };
    let key = |what| (format!("request_rate_limiter.{{0:0:0:0:0:0:0:1}}.{what}"), 1);
    assert_eq!(keys, BTreeMap::from([key("tokens"), key("timestamp")]));
    assert_eq!(skipped, BTreeMap::from([(Skip::Lua, 4)]));
    let Some((keys, skipped)) = counts("redis/docs_monitor_2012.txt", "key", false) else { return };
    assert_eq!(keys, BTreeMap::from([("x".to_string(), 3)]));
    assert_eq!(skipped, BTreeMap::from([(Skip::Keyless, 3), (Skip::Lua, 1)]));
}
