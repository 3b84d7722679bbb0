//! As much of S3 as a store uses, in memory. Who asks is not looked at.

use crate::http::{e_tag, md5_base64, ranged};
use crate::{Answer, Request, Service};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

/// How the conditions of writes are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conditions {
    /// As promised.
    Kept,
    /// Not looked at: every write happens.
    Ignored,
    /// Only those on the absence of a key.
    OnlyAbsence,
    /// Refused as a header that is not known.
    NotImplemented,
}

/// A service with one bucket.
#[derive(Debug)]
pub struct Bucket {
    name: String,
    conditions: Conditions,
    objects: Mutex<BTreeMap<String, Vec<u8>>>,
}

impl Bucket {
    /// An empty bucket.
    pub fn new(name: &str, conditions: Conditions) -> Self {
        Self {
            name: name.to_owned(),
            conditions,
            objects: Mutex::default(),
        }
    }

    /// What stands under a key.
    pub fn object(&self, key: &str) -> Option<Vec<u8>> {
        self.objects().get(key).cloned()
    }

    /// Every key.
    pub fn keys(&self) -> Vec<String> {
        self.objects().keys().cloned().collect()
    }

    fn objects(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Vec<u8>>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, request: &Request, key: &str) -> Answer {
        if let Some(sum) = request.header("content-md5")
            && sum != md5_base64(&request.body)
        {
            return error(400, "BadDigest");
        }
        let mut objects = self.objects();
        let now = objects.get(key).map(|bytes| e_tag(bytes));
        let absent = request.header("if-none-match").is_some();
        let same = request.header("if-match");
        match self.conditions {
            Conditions::NotImplemented if absent || same.is_some() => {
                return error(501, "NotImplemented");
            }
            Conditions::Kept | Conditions::OnlyAbsence if absent && now.is_some() => {
                return error(412, "PreconditionFailed");
            }
            Conditions::Kept if same.is_some() && now.is_none() => {
                return error(404, "NoSuchKey");
            }
            Conditions::Kept if same.is_some() && same != now.as_deref() => {
                return error(412, "PreconditionFailed");
            }
            _ => {}
        }
        objects.insert(key.to_owned(), request.body.clone());
        Answer::new(200, "").with("etag", e_tag(&request.body))
    }

    fn get(&self, request: &Request, key: &str) -> Answer {
        let Some(content) = self.object(key) else {
            return error(404, "NoSuchKey");
        };
        let tag = e_tag(&content);
        if request.header("if-none-match") == Some(&tag) {
            return Answer::new(304, "").with("etag", tag);
        }
        ranged(request, &tag, content).with("last-modified", "Tue, 01 Jan 2030 00:00:00 GMT")
    }

    /// S3's call for several keys at once.
    fn delete(&self, request: &Request) -> Answer {
        let body = String::from_utf8_lossy(&request.body);
        let mut objects = self.objects();
        let mut result = String::from("<?xml version=\"1.0\"?><DeleteResult>");
        for rest in body.split("<Key>").skip(1) {
            let key = rest.split("</Key>").next().unwrap_or_default();
            objects.remove(key);
            let _ = write!(result, "<Deleted><Key>{key}</Key></Deleted>");
        }
        result.push_str("</DeleteResult>");
        Answer::new(200, result)
    }

    fn list(&self, request: &Request) -> Answer {
        let prefix = request
            .query
            .split('&')
            .find_map(|pair| pair.strip_prefix("prefix="))
            .unwrap_or_default()
            .replace("%2F", "/");
        let mut body = String::from("<?xml version=\"1.0\"?><ListBucketResult>");
        for (key, content) in self
            .objects()
            .iter()
            .filter(|(key, _)| key.starts_with(&prefix))
        {
            let _ = write!(
                body,
                "<Contents><Key>{key}</Key><LastModified>2030-01-01T00:00:00.000Z</LastModified>\
                 <ETag>{}</ETag><Size>{}</Size></Contents>",
                e_tag(content).replace('"', "&quot;"),
                content.len()
            );
        }
        body.push_str("<IsTruncated>false</IsTruncated></ListBucketResult>");
        Answer::new(200, body)
    }
}

impl Service for Bucket {
    fn answer(&self, request: &Request) -> Answer {
        let path = request.path.trim_start_matches('/');
        let (bucket, key) = path.split_once('/').unwrap_or((path, ""));
        if bucket != self.name {
            return error(404, "NoSuchBucket");
        }
        match (request.method.as_str(), key) {
            ("GET", "") => self.list(request),
            ("GET" | "HEAD", key) => self.get(request, key),
            ("PUT", key) => self.put(request, key),
            ("POST", "") => self.delete(request),
            ("DELETE", key) => {
                self.objects().remove(key);
                Answer::new(204, "")
            }
            _ => error(405, "MethodNotAllowed"),
        }
    }
}

fn error(status: u16, code: &str) -> Answer {
    Answer::new(
        status,
        format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code></Error>"),
    )
}
