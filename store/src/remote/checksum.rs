//! Whether a service checks what it receives.

use object_store::path::Path;
use object_store::signer::Signer;
use object_store::{Error, Result};
use reqwest::{Method, StatusCode};
use std::sync::Arc;
use std::time::Duration;

/// How long the address of the upload is good for.
const VALID: Duration = Duration::from_mins(5);
/// How long the answer may take.
const ANSWER: Duration = Duration::from_mins(1);
/// The MD5 of no bytes at all, in base64.
const MD5_OF_NOTHING: &str = "1B2M2Y8AsgTpgAmY7PhCfg==";

/// Uploads with a wrong checksum. The bucket's own client only sends right ones, so this goes beside it, to an
/// address that it signed.
pub(super) struct ChecksumProbe {
    signer: Arc<dyn Signer>,
    client: reqwest::Client,
}

impl ChecksumProbe {
    pub(super) fn new(signer: Arc<dyn Signer>, client: reqwest::Client) -> Self {
        Self { signer, client }
    }

    /// Uploads bytes that look damaged on their way; whether the service refused them.
    pub(super) async fn refuses(&self, path: &Path) -> Result<bool> {
        let url = self.signer.signed_url(Method::PUT, path, VALID).await?;
        // The address holds a signature, so no error may show it.
        let answer = self
            .client
            .put(url)
            .header("Content-MD5", MD5_OF_NOTHING)
            .timeout(ANSWER)
            .body("not what the checksum says")
            .send()
            .await
            .map_err(|error| generic(error.without_url()))?;
        match answer.status() {
            status if status.is_success() => Ok(false),
            StatusCode::BAD_REQUEST => Ok(true),
            status => Err(generic(format!("answered {status}"))),
        }
    }
}

fn generic(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::Generic {
        store: "bucket",
        source: source.into(),
    }
}
