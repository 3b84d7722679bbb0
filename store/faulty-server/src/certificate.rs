//! Certificates for loopback servers.

use crate::Protocol;
use crate::http2::HTTP2;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use std::sync::Arc;

/// A server's certificate and the authority it is signed by.
#[derive(Debug, Clone)]
pub struct Certificate {
    config: Arc<ServerConfig>,
    authority: String,
}

impl Certificate {
    /// One that holds for this machine.
    pub fn good() -> Self {
        Self::make(&["127.0.0.1", "localhost"], 2100)
    }

    /// One for another name.
    pub fn of_another_name() -> Self {
        Self::make(&["elsewhere.example"], 2100)
    }

    /// One that held until 2001.
    pub fn expired() -> Self {
        Self::make(&["127.0.0.1", "localhost"], 2001)
    }

    /// The authority's certificate, in PEM.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// The TLS of a server that says in the handshake what it speaks.
    pub(crate) fn speaking(&self, protocol: Protocol) -> Arc<ServerConfig> {
        let mut config = ServerConfig::clone(&self.config);
        config.alpn_protocols = match protocol {
            Protocol::Unsaid => Vec::new(),
            Protocol::Http1 => vec![b"http/1.1".to_vec()],
            Protocol::Http2 => vec![HTTP2.to_vec()],
        };
        Arc::new(config)
    }

    fn make(names: &[&str], until: i32) -> Self {
        let mut authority = CertificateParams::new(Vec::<String>::new()).unwrap();
        // Another name than the server's: one that issued itself would be taken for self-signed.
        let name = &mut authority.distinguished_name;
        name.push(DnType::CommonName, "an authority for tests");
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority =
            CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut server = CertificateParams::new(names).unwrap();
        server.not_before = date_time_ymd(2000, 1, 1);
        server.not_after = date_time_ymd(until, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = server.signed_by(&key, &authority).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        Self {
            config: Arc::new(config),
            authority: authority.pem(),
        }
    }
}
