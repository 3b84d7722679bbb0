//! From a URL to a store behind the network.

use super::bucket::Bucket;
use super::checksum::ChecksumProbe;
use super::http::{self, HttpOptions, HttpSetupError};
use super::pointer::Moves;
use super::retry::Retry;
use super::runtime::Blocking;
use super::service::Shared;
use super::web::{Inner, Web};
use crate::open::shown;
use crate::{OpenError, Store};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, Checksum};
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path;
use object_store::{BackoffConfig, ObjectStore, RetryConfig};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How a store behind the network is reached.
#[derive(Debug, Clone)]
pub struct RemoteOptions {
    /// Timeouts and trust.
    pub http: HttpOptions,
    /// The endpoint of an S3-compatible service; AWS when absent.
    pub endpoint: Option<String>,
    /// Allow `http://` to hosts that are not this machine.
    pub allow_http: bool,
    /// S3 credentials given by the program; from the environment, a web identity or the instance when absent.
    pub credentials: Option<Credentials>,
    /// How often a request is made again that failed for a reason that may pass.
    pub retries: u32,
    /// When everything that is under way is given up.
    pub deadline: Option<Instant>,
    /// Move pointers of a service that has no conditional writes by reading, comparing and overwriting. Of two
    /// writers at once, one may undo the other's move unseen.
    pub without_conditional_writes: bool,
}

impl Default for RemoteOptions {
    fn default() -> Self {
        Self {
            http: HttpOptions::default(),
            endpoint: None,
            allow_http: false,
            credentials: None,
            retries: 3,
            deadline: None,
            without_conditional_writes: false,
        }
    }
}

/// An S3 key pair.
#[derive(Clone)]
pub struct Credentials {
    /// The access key id.
    pub key_id: String,
    /// The secret access key.
    pub secret: String,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials")
            .field("key_id", &self.key_id)
            .finish_non_exhaustive()
    }
}

/// Opens `s3://`, `gs://`, `az://`, `https://` or `http://`.
pub fn open_remote(url: &str, options: &RemoteOptions) -> Result<Box<dyn Store>, OpenError> {
    let parsed = reqwest::Url::parse(url).map_err(|e| OpenError::url(url, e.to_string()))?;
    refuse_secrets(url, &parsed)?;
    match parsed.scheme() {
        "https" => web(url, parsed, options),
        "http" if options.allow_http || is_loopback(&parsed) => web(url, parsed, options),
        "http" => Err(plain_http(url)),
        "s3" | "gs" | "az" => bucket(url, &parsed, options),
        scheme => Err(OpenError::unknown_scheme(url, scheme)),
    }
}

/// The URL of a store stands in messages, in reports and in what is installed.
fn refuse_secrets(url: &str, parsed: &reqwest::Url) -> Result<(), OpenError> {
    if parsed.username().is_empty() && parsed.password().is_none() {
        return Ok(());
    }
    let problem = "a user name or password cannot be part of it";
    Err(OpenError::url(url, problem.to_owned()))
}

fn is_loopback(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

fn setup(url: &str, error: HttpSetupError) -> OpenError {
    OpenError::Setup {
        url: shown(url),
        source: error,
    }
}

fn web(
    url: &str,
    mut base: reqwest::Url,
    options: &RemoteOptions,
) -> Result<Box<dyn Store>, OpenError> {
    if base.query().is_some() || base.fragment().is_some() {
        return Err(OpenError::url(
            url,
            "a query or fragment cannot be part of a store".into(),
        ));
    }
    if !base.path().ends_with('/') {
        base.set_path(&format!("{}/", base.path()));
    }
    let blocking =
        Blocking::new(options.deadline).map_err(|e| setup(url, HttpSetupError::Runtime(e)))?;
    let client = http::reading(&options.http, base.scheme()).map_err(|e| setup(url, e))?;
    Ok(Box::new(Web(Arc::new(Inner {
        url: url.to_owned(),
        base,
        blocking,
        client,
        stall: options.http.stall,
        retry: Retry::times(options.retries),
    }))))
}

fn bucket(
    url: &str,
    parsed: &reqwest::Url,
    options: &RemoteOptions,
) -> Result<Box<dyn Store>, OpenError> {
    let name = parsed.host_str().unwrap_or_default();
    if name.is_empty() {
        return Err(OpenError::url(url, "no bucket named".into()));
    }
    let prefix = parsed.path().trim_matches('/');
    if *prefix != *Path::from(prefix).as_ref() {
        // The client would store below another name than the one that is read over HTTPS, or seen by people.
        let problem = "its path has characters that mean something else in a bucket or a URL";
        return Err(OpenError::url(url, problem.to_owned()));
    }
    let blocking =
        Blocking::new(options.deadline).map_err(|e| setup(url, HttpSetupError::Runtime(e)))?;
    let client = http::buckets(&options.http).map_err(|e| setup(url, e))?;
    let build = |retries| service(url, parsed.scheme(), name, &client, retries, options);
    Ok(Box::new(Bucket {
        url: url.to_owned(),
        prefix: prefix.to_owned(),
        blocking,
        store: build(options.retries)?,
        once: build(0)?,
        conditional_writes: !options.without_conditional_writes,
        // The other services have no imitations that would have to be doubted.
        moves: Moves::new(parsed.scheme() == "s3", Retry::times(options.retries)),
        stall: options.http.stall,
        checksum: match parsed.scheme() {
            "s3" => Some(probe(url, name, &client, options)?),
            _ => None,
        },
    }))
}

fn probe(
    url: &str,
    name: &str,
    client: &reqwest::Client,
    options: &RemoteOptions,
) -> Result<ChecksumProbe, OpenError> {
    let signer = s3(name, options)?
        .with_http_connector(Shared {
            client: client.clone(),
            stall: options.http.stall,
        })
        .build()
        .map_err(|error| OpenError::url(url, error.to_string()))?;
    Ok(ChecksumProbe::new(Arc::new(signer), client.clone()))
}

fn service(
    url: &str,
    scheme: &str,
    name: &str,
    client: &reqwest::Client,
    retries: u32,
    options: &RemoteOptions,
) -> Result<Arc<dyn ObjectStore>, OpenError> {
    let refused = |error: object_store::Error| OpenError::url(url, error.to_string());
    let retry = RetryConfig {
        backoff: BackoffConfig::default(),
        max_retries: retries as usize,
        retry_timeout: Duration::from_secs(90),
    };
    let connector = Shared {
        client: client.clone(),
        stall: options.http.stall,
    };
    Ok(match scheme {
        "s3" => Arc::new(
            s3(name, options)?
                .with_retry(retry)
                .with_http_connector(connector)
                .build()
                .map_err(refused)?,
        ),
        "gs" => Arc::new(
            GoogleCloudStorageBuilder::from_env()
                .with_bucket_name(name)
                .with_retry(retry)
                .with_http_connector(connector)
                .build()
                .map_err(refused)?,
        ),
        _ => Arc::new(
            MicrosoftAzureBuilder::from_env()
                .with_container_name(name)
                .with_retry(retry)
                .with_http_connector(connector)
                .build()
                .map_err(refused)?,
        ),
    })
}

/// S3 and what is compatible with it. What is not given comes from the variables that all S3 clients read.
fn s3(name: &str, options: &RemoteOptions) -> Result<AmazonS3Builder, OpenError> {
    let mut builder = AmazonS3Builder::from_env()
        .with_bucket_name(name)
        // The service checks what it received against it before it acknowledges.
        .with_checksum_algorithm(Checksum::SHA256);
    if let Some(endpoint) = &options.endpoint {
        // The key that the builder prefers: a variable of the environment may have set it.
        builder = builder.with_config(AmazonS3ConfigKey::S3Endpoint, endpoint);
    }
    if let Some(given) = &options.credentials {
        builder = builder
            .with_access_key_id(&given.key_id)
            .with_secret_access_key(&given.secret);
    }
    // The client takes any URL; whether plain HTTP will do is decided here.
    for key in [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint] {
        let Some(endpoint) = builder.get_config_value(&key) else {
            continue;
        };
        let parsed = reqwest::Url::parse(&endpoint);
        if let Ok(parsed) = &parsed {
            refuse_secrets(&endpoint, parsed)?;
        }
        let plain = endpoint.starts_with("http://");
        if plain && !options.allow_http && !parsed.as_ref().is_ok_and(is_loopback) {
            return Err(plain_http(&endpoint));
        }
    }
    Ok(builder)
}

fn plain_http(url: &str) -> OpenError {
    OpenError::PlainHttp { url: shown(url) }
}
