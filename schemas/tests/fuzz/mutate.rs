//! Damage: to bytes, and to the values of JSON documents (which byte damage seldom gets past the parser).

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;

/// A kept input after up to four edits.
pub(crate) fn bytes(corpus: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let edits = proptest::collection::vec((any::<Index>(), any::<u8>(), 0..5_u8), 1..5);
    (select(corpus), edits).prop_map(|(mut input, edits)| {
        for (at, byte, kind) in edits {
            edit(&mut input, at, byte, kind);
        }
        input
    })
}

fn edit(input: &mut Vec<u8>, at: Index, byte: u8, kind: u8) {
    if input.is_empty() {
        input.push(byte);
    }
    let at = at.index(input.len());
    match kind {
        0 => input[at] = byte,
        1 => input[at] ^= 1 << (byte % 8),
        2 => input.insert(at, byte),
        3 => {
            input.remove(at);
        }
        _ => input.truncate(at),
    }
}

/// A kept JSON input of which up to three values were replaced. Others are passed on as they are.
pub(crate) fn values(corpus: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let edits = proptest::collection::vec((any::<Index>(), replacement()), 1..4);
    (select(corpus), edits).prop_map(|(input, edits)| {
        let Ok(mut document) = serde_json::from_slice::<Value>(&input) else {
            return input;
        };
        for (at, value) in edits {
            let mut left = at.index(count(&document));
            replace(&mut document, &mut left, &value);
        }
        serde_json::to_vec(&document).unwrap()
    })
}

fn replacement() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (0..4_u64).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
        select(vec![
            "",
            "\n",
            "#",
            "..",
            "cuda",
            "passed",
            "2030-01-01T00:00:00Z"
        ])
        .prop_map(Value::from),
        Just(Value::Array(Vec::new())),
        Just(Value::Object(serde_json::Map::new())),
    ]
}

fn count(value: &Value) -> usize {
    1 + parts(value).map(count).sum::<usize>()
}

fn parts(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(fields) => Box::new(fields.values()),
        _ => Box::new(std::iter::empty()),
    }
}

/// Replaces the value that is `left` places further in document order.
fn replace(value: &mut Value, left: &mut usize, by: &Value) -> bool {
    if *left == 0 {
        *value = by.clone();
        return true;
    }
    *left -= 1;
    match value {
        Value::Array(items) => items.iter_mut().any(|item| replace(item, left, by)),
        Value::Object(fields) => fields.values_mut().any(|field| replace(field, left, by)),
        _ => false,
    }
}
