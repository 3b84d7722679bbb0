//! The keys of one object, each at most once.

use serde::de::{DeserializeSeed, Deserializer, Error, Visitor};
use serde::forward_to_deserialize_any;
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

/// Objects of more keys than this are checked with a set instead of by comparison.
const SMALL: usize = 16;

/// The keys an object has named so far.
#[derive(Default)]
pub(super) struct Keys<'de> {
    few: Vec<Cow<'de, str>>,
    many: HashSet<Cow<'de, str>>,
}

impl<'de> Keys<'de> {
    fn add<E: Error>(&mut self, key: Cow<'de, str>) -> Result<(), E> {
        if self.few.contains(&key) || self.many.contains(&key) {
            let shown: String = key.chars().take(80).flat_map(char::escape_debug).collect();
            return Err(E::custom(format_args!("duplicate key `{shown}`")));
        }
        if self.many.is_empty() && self.few.len() < SMALL {
            self.few.push(key);
        } else {
            self.many.extend(self.few.drain(..));
            self.many.insert(key);
        }
        Ok(())
    }
}

/// Reads a key, notes it, and passes it on to the seed that wanted it.
pub(super) struct KeySeed<'a, 'de, S> {
    pub(super) seed: S,
    pub(super) keys: &'a mut Keys<'de>,
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for KeySeed<'_, 'de, S> {
    type Value = S::Value;
    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        let Self { seed, keys } = self;
        seed.deserialize(KeyDeserializer { inner, keys })
    }
}

struct KeyDeserializer<'a, 'de, D> {
    inner: D,
    keys: &'a mut Keys<'de>,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for KeyDeserializer<'_, 'de, D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let Self { inner, keys } = self;
        inner.deserialize_str(KeyVisitor { visitor, keys })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

struct KeyVisitor<'a, 'de, V> {
    visitor: V,
    keys: &'a mut Keys<'de>,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for KeyVisitor<'_, 'de, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    fn visit_borrowed_str<E: Error>(self, key: &'de str) -> Result<V::Value, E> {
        self.keys.add(Cow::Borrowed(key))?;
        self.visitor.visit_borrowed_str(key)
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<V::Value, E> {
        self.keys.add(Cow::Owned(key.to_owned()))?;
        self.visitor.visit_str(key)
    }
}
