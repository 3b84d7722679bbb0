//! What a publisher signs, and what it refuses to take over.

use crate::support::{Job, collect_jobs, map, maps, request};
use kernrec_publish::publishing::{Evidence, Outcome, PublishReport};
use kernrec_publish::{Refusal, publish};
use kernrec_schemas::Backend;
use kernrec_schemas::installed::StoreLayout;
use kernrec_store::signing::{Signing, SigningKey, TrustedKeys};
use kernrec_store::upstream::{self, Place};
use kernrec_store::{LocalStore, pointers};
use serde_json::{Value, json};
use std::path::PathBuf;

fn file(name: &str) -> PathBuf {
    let keys = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/signing-keys");
    PathBuf::from(keys).join(name)
}

fn trusted(name: &str) -> TrustedKeys {
    TrustedKeys::load([file(&format!("{name}.pub.pem"))]).unwrap()
}

fn signs(name: &str) -> Signing {
    Signing {
        key: Some(SigningKey::load(&file(&format!("{name}.pem"))).unwrap()),
        ..Signing::default()
    }
}

fn adopts(name: &str) -> Signing {
    Signing {
        adopt_unsigned: true,
        ..signs(name)
    }
}

fn unsigned() -> Signing {
    Signing::default()
}

struct World {
    dir: tempfile::TempDir,
    store: LocalStore,
    layout: StoreLayout,
}

/// The same in both layouts.
fn worlds() -> [World; 2] {
    [StoreLayout::Native, StoreLayout::Upstream].map(|layout| {
        let dir = tempfile::tempdir().unwrap();
        let store = LocalStore::create(dir.path()).unwrap();
        World { dir, store, layout }
    })
}

impl World {
    fn publish(&self, build: u64, signing: Signing) -> PublishReport {
        self.publish_or_look(build, signing, false)
    }

    fn publish_or_look(&self, build: u64, signing: Signing, dry_run: bool) -> PublishReport {
        let (_dir, collected) = collect_jobs(&[Job::new("j", "s")]);
        let maps = maps(vec![map(Backend::Cuda, &["k"])]);
        let mut request = request(Evidence::Recordings(&collected), &maps);
        request.layout = self.layout;
        request.build.0 = build;
        request.signing = signing;
        request.dry_run = dry_run;
        publish(&self.store, &request).unwrap()
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join(match self.layout {
            StoreLayout::Upstream => "ci/kernrec/latest.json",
            _ => "pointers/ci/cuda.json",
        })
    }

    fn bytes(&self) -> Vec<u8> {
        fs_err::read(self.path()).unwrap()
    }

    fn pointer(&self) -> Value {
        serde_json::from_slice(&self.bytes()).unwrap()
    }

    /// Writes what an attacker made of the pointer, or an operator of an old one.
    fn rewrite(&self, change: impl FnOnce(&mut Value)) {
        let mut pointer = self.pointer();
        change(&mut pointer);
        fs_err::write(self.path(), serde_json::to_vec(&pointer).unwrap()).unwrap();
    }

    fn is_signed_by(&self, name: &str) -> bool {
        let pipeline = "ci".parse().unwrap();
        if self.layout == StoreLayout::Native {
            let found = pointers::read(&self.store, &pipeline, Backend::Cuda).unwrap();
            return found.unwrap().seal.verify(&trusted(name)).is_ok();
        }
        let place = Place::of_pipeline(pipeline.clone());
        let read = upstream::read_pointer(&self.store, &place, &pipeline, Backend::Cuda, None);
        let upstream::Seen::Found(found) = read.unwrap() else {
            panic!("it was published");
        };
        found.verify(&trusted(name), Backend::Cuda).is_ok()
    }

    /// Asserts that a publish is refused for one reason, and writes nothing.
    fn assert_refused(&self, build: u64, signing: &Signing, word: &str) {
        let before = self.bytes();
        for dry_run in [true, false] {
            let report = self.publish_or_look(build, signing.clone(), dry_run);
            assert_eq!(report.outcome, Outcome::Refused, "{report:?}");
            let words: Vec<&str> = report.refusals.iter().map(Refusal::word).collect();
            assert_eq!(words, [word], "{:?}", self.layout);
            let json = serde_json::to_value(&report).unwrap();
            assert_eq!(json["refusals"][0]["reason"], word);
            assert_eq!(self.bytes(), before);
        }
    }
}

/// The key that signed a publish that must have moved the pointer.
fn published(report: &PublishReport) -> Option<String> {
    assert_eq!(report.outcome, Outcome::Published, "{report:?}");
    report.signed_by.as_ref().map(ToString::to_string)
}

#[test]
fn the_first_pointer_and_each_that_follows_is_signed() {
    for world in worlds() {
        let key = published(&world.publish(7, signs("one"))).unwrap();
        assert_eq!(world.pointer()["signature"]["key"], key.as_str());
        assert!(world.is_signed_by("one"));
        let again = world.publish(7, signs("one"));
        assert_eq!((again.outcome, again.signed_by), (Outcome::Unchanged, None));
        if world.layout == StoreLayout::Native {
            published(&world.publish(8, signs("one"))).unwrap();
            assert!(world.is_signed_by("one"));
            assert_eq!(world.pointer()["history"][0]["record"]["build"], 7);
        }
    }
}

#[test]
fn without_a_key_a_signed_pointer_is_not_replaced() {
    for world in worlds() {
        published(&world.publish(7, signs("one")));
        for build in [7, 8] {
            world.assert_refused(build, &unsigned(), "signing-key-missing");
        }
    }
}

#[test]
fn what_is_unsigned_is_adopted_only_when_asked_to_and_signed_though_it_is_current() {
    for world in worlds() {
        assert_eq!(published(&world.publish(7, unsigned())), None);
        let before = world.pointer();
        world.assert_refused(7, &signs("one"), "signature-missing");
        world.assert_refused(8, &signs("one"), "signature-missing");
        published(&world.publish(7, adopts("one"))).unwrap();
        assert!(world.is_signed_by("one"));
        let after = world.pointer();
        assert_eq!(after["generation"], 2);
        for field in ["current", "history", "commit", "digests", "published_at"] {
            assert_eq!(after[field], before[field], "{field}");
        }
        assert_eq!(world.publish(7, adopts("one")).outcome, Outcome::Unchanged);
    }
}

#[test]
fn a_pointer_of_the_existing_collector_is_adopted_with_its_age() {
    let [_, world] = worlds();
    published(&world.publish(7, unsigned()));
    world.rewrite(|pointer| {
        for field in ["backend", "generation", "nonce", "digests", "published_at"] {
            pointer.as_object_mut().unwrap().remove(field);
        }
    });
    world.assert_refused(7, &signs("one"), "signature-missing");
    published(&world.publish(7, adopts("one"))).unwrap();
    assert!(world.is_signed_by("one"));
    // Nobody knows when it was published, and signing it makes it no younger.
    assert_eq!(world.pointer().get("published_at"), None);
}

#[test]
fn what_an_attacker_left_is_not_vouched_for() {
    type Attack = fn(&mut Value);
    let attacks: [(Attack, &str); 4] = [
        (
            |pointer| drop(pointer.as_object_mut().unwrap().remove("signature")),
            "signature-missing",
        ),
        (
            |pointer| pointer["signature"]["key"] = json!("0123456789abcdef"),
            "signature-unknown-key",
        ),
        (
            |pointer| pointer["generation"] = json!(40),
            "signature-invalid",
        ),
        (
            |pointer| pointer["published_at"] = json!("2039-01-01T00:00:00Z"),
            "signature-invalid",
        ),
    ];
    for (attack, word) in attacks {
        for world in worlds() {
            published(&world.publish(7, signs("one")));
            world.rewrite(attack);
            world.assert_refused(8, &signs("one"), word);
        }
    }
}

#[test]
fn a_forged_history_is_not_carried_on() {
    let [world, _] = worlds();
    published(&world.publish(7, signs("one")));
    published(&world.publish(8, signs("one")));
    let forged = world.pointer()["current"].clone();
    world.rewrite(|pointer| {
        let history = pointer["history"].as_array_mut().unwrap();
        let mut entry = json!({ "record": forged });
        entry["record"]["manifest"] = json!(format!("b3:{}", "0".repeat(64)));
        history.push(entry);
    });
    world.assert_refused(9, &signs("one"), "signature-invalid");
    // Whoever strips the signature meets a publisher that adopts nothing.
    world.rewrite(|pointer| drop(pointer.as_object_mut().unwrap().remove("signature")));
    world.assert_refused(9, &signs("one"), "signature-missing");
}

#[test]
fn a_new_key_takes_over_from_one_that_it_trusts() {
    for world in worlds() {
        published(&world.publish(7, signs("one")));
        world.assert_refused(7, &signs("two"), "signature-unknown-key");
        world.assert_refused(7, &adopts("two"), "signature-unknown-key");
        let rotates = Signing {
            trusted: trusted("one"),
            ..signs("two")
        };
        published(&world.publish(7, rotates.clone())).unwrap();
        assert!(world.is_signed_by("two"));
        assert!(!world.is_signed_by("one"));
        assert_eq!(world.publish(7, rotates).outcome, Outcome::Unchanged);
        assert_eq!(world.publish(7, signs("two")).outcome, Outcome::Unchanged);
        world.assert_refused(8, &signs("one"), "signature-unknown-key");
    }
}
