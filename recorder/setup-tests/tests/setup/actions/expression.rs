//! Expressions of GitHub Actions, as far as the actions and the worked example use them. Anything else is a mistake, and
//! so is a context that is not known: the runner would read an empty text.

use serde_json::{Value, json};

/// What an expression is evaluated against.
pub(super) struct Contexts<'a> {
    /// `github`, `inputs`, `needs`, ... as one object.
    pub(super) values: &'a Value,
    /// Whether the run was cancelled.
    pub(super) cancelled: bool,
}

impl Contexts<'_> {
    /// A text with expressions between `${{` and `}}` in it.
    pub(super) fn text(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, from)) = rest.split_once("${{") {
            let (expression, after) = from.split_once("}}").expect("an expression has an end");
            out.push_str(before);
            out.push_str(&shown(&self.value(expression)));
            rest = after;
        }
        out + rest
    }

    /// The value of a text that is one expression, or an expression without the marks.
    pub(super) fn value(&self, text: &str) -> Value {
        let text = text.trim();
        let text = text.strip_prefix("${{").map_or(text, |inner| {
            inner.strip_suffix("}}").expect("the end of an expression")
        });
        let mut parser = Parser {
            rest: text.trim(),
            contexts: self,
        };
        let value = parser.or();
        assert_eq!(parser.rest, "", "in the expression `{text}`");
        value
    }

    /// Whether an `if` holds.
    pub(super) fn holds(&self, text: &str) -> bool {
        truthy(&self.value(text))
    }

    fn path(&self, path: &str) -> Value {
        let mut parts = path.split('.');
        let root = parts.next().unwrap();
        let root = self
            .values
            .get(root)
            .unwrap_or_else(|| panic!("no context `{root}`"));
        let found = parts.try_fold(root, |value, part| value.get(part));
        found.cloned().unwrap_or(Value::Null)
    }
}

struct Parser<'a> {
    rest: &'a str,
    contexts: &'a Contexts<'a>,
}

impl Parser<'_> {
    fn or(&mut self) -> Value {
        let mut value = self.and();
        while self.eat("||") {
            let other = self.and();
            value = if truthy(&value) { value } else { other };
        }
        value
    }

    fn and(&mut self) -> Value {
        let mut value = self.equality();
        while self.eat("&&") {
            let other = self.equality();
            value = if truthy(&value) { other } else { value };
        }
        value
    }

    fn equality(&mut self) -> Value {
        let value = self.not();
        if self.eat("==") {
            return Value::from(equal(&value, &self.not()));
        }
        if self.eat("!=") {
            return Value::from(!equal(&value, &self.not()));
        }
        value
    }

    fn not(&mut self) -> Value {
        if self.eat("!") {
            return Value::from(!truthy(&self.not()));
        }
        self.atom()
    }

    fn atom(&mut self) -> Value {
        if self.eat("(") {
            let value = self.or();
            assert!(self.eat(")"));
            return value;
        }
        if let Some(from) = self.rest.strip_prefix('\'') {
            let (text, after) = from.split_once('\'').expect("the end of a text");
            self.rest = after.trim_start();
            return Value::from(text);
        }
        let belongs = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let (name, after) = self.rest.split_at(end);
        assert!(!name.is_empty(), "no expression: `{}`", self.rest);
        self.rest = after.trim_start();
        if self.eat("(") {
            self.call(name)
        } else {
            self.constant(name)
        }
    }

    fn constant(&self, name: &str) -> Value {
        match name {
            "true" => Value::from(true),
            "false" => Value::from(false),
            _ => name
                .parse::<i64>()
                .map_or_else(|_| self.contexts.path(name), Value::from),
        }
    }

    fn call(&mut self, name: &str) -> Value {
        let mut arguments = Vec::new();
        while !self.eat(")") {
            arguments.push(self.or());
            self.eat(",");
        }
        match (name, &arguments[..]) {
            ("always", []) => Value::from(true),
            ("cancelled", []) => Value::from(self.contexts.cancelled),
            ("fromJSON", [text]) => serde_json::from_str(&shown(text)).expect("the text is JSON"),
            ("contains", [Value::Array(items), item]) => {
                Value::from(items.iter().any(|one| equal(one, item)))
            }
            _ => panic!("no call that is known: {name}({arguments:?})"),
        }
    }

    fn eat(&mut self, token: &str) -> bool {
        let Some(after) = self.rest.strip_prefix(token) else {
            return false;
        };
        if token == "!" && after.starts_with('=') {
            return false;
        }
        self.rest = after.trim_start();
        true
    }
}

fn truthy(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false)) && *value != json!(0) && *value != json!("")
}

/// What is of the same kind; kinds are never mixed here.
fn equal(one: &Value, other: &Value) -> bool {
    let empty = |value: &Value| value.is_null() || *value == json!("");
    one == other || (empty(one) && empty(other))
}

/// A value as text.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[test]
fn the_evaluator_can_tell_true_from_false() {
    let values = json!({"needs": {"select": {"outputs": {"keys": "[\"a\"]", "none": ""}}}});
    let contexts = Contexts {
        values: &values,
        cancelled: false,
    };
    for (expression, expected) in [
        ("!cancelled() && needs.select.outputs.keys != '[]'", true),
        ("needs.select.outputs.keys == '[]'", false),
        ("contains(fromJSON(needs.select.outputs.keys), 'a')", true),
        (
            "!contains(fromJSON(needs.select.outputs.absent || '[]'), 'a')",
            true,
        ),
        (
            "${{ needs.select.outputs.none || needs.other.outputs.x }}",
            false,
        ),
        ("(false || true) && !(1 != 1)", true),
    ] {
        assert_eq!(contexts.holds(expression), expected, "{expression}");
    }
    assert_eq!(
        contexts.text("a ${{ needs.select.outputs.keys }} b${{ 1 }}"),
        "a [\"a\"] b1"
    );
}
