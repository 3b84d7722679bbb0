//! One object file, shared library or archive to its kernels.

use super::error::ObjectError;
use super::host::{Place, device_sections};
use crate::input::{Budget, Fault, Reason, Span};
use crate::{cuda, rocm};
use kernrec_schemas::Backend;
use object::read::archive::ArchiveFile;
use object::read::{ReadCache, ReadRef};
use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// The device code of one object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceCode {
    /// Whether there is any, even without a kernel.
    pub device: bool,
    /// Kernel entry symbols of all architectures, mangled, as the vendors' runtimes report them.
    pub symbols: BTreeSet<String>,
    /// ROCm: the bundle entry ids. Empty for CUDA.
    pub offload_targets: BTreeSet<String>,
}

/// Reads one object after another, and keeps its buffers between them: a worker's memory is bounded
/// by its largest device section and its largest decompressed image.
#[derive(Default)]
pub struct ObjectReader {
    bytes: Vec<u8>,
    unpacker: cuda::Unpacker,
}

impl ObjectReader {
    /// Reads `path`: an ELF object, executable or shared library, or an archive of them.
    ///
    /// Only section tables and device sections are read. An object without device code is no error;
    /// one with device code that cannot be read is.
    pub fn read(&mut self, path: &Path, backend: Backend) -> Result<DeviceCode, ObjectError> {
        let object = path.display().to_string();
        let read_error = |source: io::Error| ObjectError::Read {
            object: object.clone(),
            source,
        };
        let file = fs_err::File::open(path).map_err(read_error)?;
        let metadata = file.metadata().map_err(read_error)?;
        if !metadata.is_file() {
            let fault = Fault::new(Reason::Unsupported, 0, "a regular file");
            return Err(ObjectError::of(&object, fault));
        }
        let code = DeviceCode::default();
        let mut reader = Reader {
            file: file.file(),
            object,
            backend,
            code,
            buffers: self,
        };
        reader.read(metadata.len())?;
        Ok(reader.code)
    }
}

/// Reads one object; see [`ObjectReader::read`].
pub fn read_object(path: &Path, backend: Backend) -> Result<DeviceCode, ObjectError> {
    ObjectReader::default().read(path, backend)
}

struct Reader<'a> {
    file: &'a std::fs::File,
    object: String,
    backend: Backend,
    code: DeviceCode,
    buffers: &'a mut ObjectReader,
}

impl Reader<'_> {
    fn read(&mut self, length: u64) -> Result<(), ObjectError> {
        let cache = ReadCache::new(self.file);
        let magic = cache.read_bytes_at(0, length.min(8)).unwrap_or_default();
        if magic.starts_with(b"!<arch>\n") {
            return self.archive(&cache);
        }
        if magic.starts_with(b"\x7fELF") {
            let places = device_sections(&cache, 0, self.backend);
            let places = places.map_err(|fault| ObjectError::of(&self.object, fault))?;
            return self.sections(&places, &self.object.clone());
        }
        let expected = "an ELF object or an archive of them";
        let fault = if magic.starts_with(b"BC\xC0\xDE") {
            Fault::new(Reason::Bitcode, 0, expected)
        } else if length == 0 {
            Fault::malformed(0, expected)
        } else {
            Fault::new(Reason::Unsupported, 0, expected)
        };
        Err(ObjectError::of(&self.object, fault))
    }

    fn archive(&mut self, cache: &ReadCache<&std::fs::File>) -> Result<(), ObjectError> {
        let broken = |object: &str, error: object::Error| {
            ObjectError::of(object, Fault::malformed(0, format!("an archive ({error})")))
        };
        let archive = ArchiveFile::parse(cache).map_err(|error| broken(&self.object, error))?;
        for member in archive.members() {
            let member = member.map_err(|error| broken(&self.object, error))?;
            let name = String::from_utf8_lossy(member.name()).into_owned();
            let (offset, size) = member.file_range();
            let member = format!("{}({name})", self.object);
            let magic = cache.read_bytes_at(offset, size.min(4)).unwrap_or_default();
            if !magic.starts_with(b"\x7fELF") {
                let expected = "archive members that are ELF objects";
                let fault = Fault::new(Reason::Unsupported, offset, expected);
                return Err(ObjectError::of(&member, fault));
            }
            let range = cache.range(offset, size);
            let places = device_sections(range, offset, self.backend)
                .map_err(|fault| ObjectError::of(&member, fault))?;
            self.sections(&places, &member)?;
        }
        Ok(())
    }

    fn sections(&mut self, places: &[Place], object: &str) -> Result<(), ObjectError> {
        let bytes = places
            .iter()
            .fold(0_u64, |sum, place| sum.saturating_add(place.size));
        let mut budget = Budget::of(bytes);
        for place in places {
            self.section(*place, &mut budget, object)?;
        }
        Ok(())
    }

    fn section(
        &mut self,
        place: Place,
        budget: &mut Budget,
        object: &str,
    ) -> Result<(), ObjectError> {
        let read_error = |source| ObjectError::Read {
            object: object.to_owned(),
            source,
        };
        let size = usize::try_from(place.size).map_err(|_| {
            ObjectError::of(
                object,
                Fault::new(Reason::TooLarge, place.offset, "a smaller section"),
            )
        })?;
        let buffers = &mut *self.buffers;
        if buffers.bytes.len() < size {
            buffers.bytes.resize(size, 0);
        }
        let bytes = &mut buffers.bytes[..size];
        self.file
            .read_exact_at(bytes, place.offset)
            .map_err(read_error)?;
        let section = Span::new(bytes, place.offset);
        let code = &mut self.code;
        code.device = true;
        let read = match self.backend {
            Backend::Cuda => {
                cuda::read_section(section, &mut buffers.unpacker, budget, &mut code.symbols)
            }
            Backend::Rocm => {
                let found = rocm::Found {
                    kernels: &mut code.symbols,
                    targets: &mut code.offload_targets,
                };
                rocm::read_section(section, budget, found)
            }
            other => {
                let expected = format!("a backend with a reader, found {other}");
                Err(Fault::new(Reason::Unsupported, place.offset, expected))
            }
        };
        read.map_err(|fault| ObjectError::of(object, fault))
    }
}
