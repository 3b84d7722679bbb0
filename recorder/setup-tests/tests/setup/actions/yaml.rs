//! YAML as GitHub reads it, as a JSON tree.

use saphyr::{LoadableYamlNode as _, Scalar, Yaml};
use serde_json::{Map, Value};
use std::path::Path;

/// The one document of a file.
pub(super) fn read(path: &Path) -> Value {
    parse(&fs_err::read_to_string(path).unwrap())
}

/// The one document of a text.
pub(super) fn parse(text: &str) -> Value {
    let documents = Yaml::load_from_str(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let [document] = &documents[..] else {
        panic!("{} documents\n{text}", documents.len());
    };
    tree(document)
}

fn tree(node: &Yaml<'_>) -> Value {
    match node {
        Yaml::Value(scalar) => match scalar {
            Scalar::Null => Value::Null,
            Scalar::Boolean(value) => Value::from(*value),
            Scalar::Integer(value) => Value::from(*value),
            Scalar::FloatingPoint(value) => Value::from(value.into_inner()),
            Scalar::String(text) => Value::from(text.as_ref()),
        },
        Yaml::Sequence(items) => items.iter().map(tree).collect(),
        Yaml::Mapping(pairs) => {
            let pair = |(key, value): (&Yaml<'_>, &Yaml<'_>)| {
                (key.as_str().unwrap().to_owned(), tree(value))
            };
            Value::from(pairs.iter().map(pair).collect::<Map<_, _>>())
        }
        other => panic!("no plain YAML: {other:?}"),
    }
}
