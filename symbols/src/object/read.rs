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

/// Files up to this size are read with one call. In larger ones only section tables and device
/// sections are; finding those takes a call for each name and table.
const WHOLE: u64 = 16 << 20;

/// Reads one object after another, and keeps its buffers between them: a worker's memory is bounded
/// by its largest object, or device section of a large one, and its largest decompressed image.
#[derive(Default)]
pub struct ObjectReader {
    bytes: Vec<u8>,
    unpacker: cuda::Unpacker,
}

impl ObjectReader {
    /// Reads `path`: an ELF object, executable or shared library, or an archive of them.
    ///
    /// An object without device code is no error;
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
        let unpacker = &mut self.unpacker;
        let mut reader = Reader {
            object,
            backend,
            code,
            unpacker,
        };
        reader.read(file.file(), metadata.len(), &mut self.bytes)?;
        Ok(reader.code)
    }
}

/// Reads one object; see [`ObjectReader::read`].
pub fn read_object(path: &Path, backend: Backend) -> Result<DeviceCode, ObjectError> {
    ObjectReader::default().read(path, backend)
}

struct Reader<'a> {
    object: String,
    backend: Backend,
    code: DeviceCode,
    unpacker: &'a mut cuda::Unpacker,
}

/// Where the bytes of sections come from.
enum Content<'a> {
    /// The whole file.
    Memory(&'a [u8]),
    /// A file too large to hold, and a buffer for one section of it.
    File(&'a std::fs::File, &'a mut Vec<u8>),
}

impl Content<'_> {
    fn section(&mut self, place: Place) -> io::Result<&[u8]> {
        let short = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let size = usize::try_from(place.size).map_err(|_| short())?;
        match self {
            Self::Memory(bytes) => {
                let start = usize::try_from(place.offset).map_err(|_| short())?;
                let end = start.checked_add(size).ok_or_else(short)?;
                bytes.get(start..end).ok_or_else(short)
            }
            Self::File(file, buffer) => {
                let bytes = sized(buffer, size);
                file.read_exact_at(bytes, place.offset)?;
                Ok(bytes)
            }
        }
    }
}

/// The first `size` bytes of a buffer that only grows: fresh memory costs a fault for each page.
fn sized(buffer: &mut Vec<u8>, size: usize) -> &mut [u8] {
    if buffer.len() < size {
        buffer.resize(size, 0);
    }
    &mut buffer[..size]
}

impl Reader<'_> {
    fn read(
        &mut self,
        file: &std::fs::File,
        length: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<(), ObjectError> {
        let whole = usize::try_from(length).ok().filter(|_| length <= WHOLE);
        let Some(size) = whole else {
            let cache = ReadCache::new(file);
            let range = |offset, size| cache.range(offset, size);
            return self.parse(&cache, range, length, Content::File(file, buffer));
        };
        let bytes = sized(buffer, size);
        let read_error = |source| ObjectError::Read {
            object: self.object.clone(),
            source,
        };
        file.read_exact_at(bytes, 0).map_err(read_error)?;
        let bytes = &*bytes;
        // The archive reader has checked that members lie within the file.
        let range = |offset, size| bytes.read_bytes_at(offset, size).unwrap_or_default();
        self.parse(bytes, range, length, Content::Memory(bytes))
    }

    /// `range` gives a part of `data`: an archive's member.
    fn parse<'data, R: ReadRef<'data>, M: ReadRef<'data>>(
        &mut self,
        data: R,
        range: impl Fn(u64, u64) -> M,
        length: u64,
        mut content: Content<'_>,
    ) -> Result<(), ObjectError> {
        let magic = data.read_bytes_at(0, length.min(8)).unwrap_or_default();
        if magic.starts_with(b"!<arch>\n") {
            return self.archive(data, range, &mut content);
        }
        let object = self.object.clone();
        if magic.starts_with(b"\x7fELF") {
            let places = device_sections(data, 0, self.backend);
            let places = places.map_err(|fault| ObjectError::of(&object, fault))?;
            return self.sections(&places, &object, &mut content);
        }
        let expected = "an ELF object or an archive of them";
        let fault = if magic.starts_with(b"BC\xC0\xDE") {
            Fault::new(Reason::Bitcode, 0, expected)
        } else if length == 0 {
            Fault::malformed(0, expected)
        } else {
            Fault::new(Reason::Unsupported, 0, expected)
        };
        Err(ObjectError::of(&object, fault))
    }

    fn archive<'data, R: ReadRef<'data>, M: ReadRef<'data>>(
        &mut self,
        data: R,
        range: impl Fn(u64, u64) -> M,
        content: &mut Content<'_>,
    ) -> Result<(), ObjectError> {
        let broken = |object: &str, error: object::Error| {
            ObjectError::of(object, Fault::malformed(0, format!("an archive ({error})")))
        };
        let archive = ArchiveFile::parse(data).map_err(|error| broken(&self.object, error))?;
        for member in archive.members() {
            let member = member.map_err(|error| broken(&self.object, error))?;
            let name = String::from_utf8_lossy(member.name()).into_owned();
            let (offset, size) = member.file_range();
            let member = format!("{}({name})", self.object);
            let magic = data.read_bytes_at(offset, size.min(4)).unwrap_or_default();
            if !magic.starts_with(b"\x7fELF") {
                let expected = "archive members that are ELF objects";
                let fault = Fault::new(Reason::Unsupported, offset, expected);
                return Err(ObjectError::of(&member, fault));
            }
            let places = device_sections(range(offset, size), offset, self.backend)
                .map_err(|fault| ObjectError::of(&member, fault))?;
            self.sections(&places, &member, content)?;
        }
        Ok(())
    }

    fn sections(
        &mut self,
        places: &[Place],
        object: &str,
        content: &mut Content<'_>,
    ) -> Result<(), ObjectError> {
        let bytes = places
            .iter()
            .fold(0_u64, |sum, place| sum.saturating_add(place.size));
        let mut budget = Budget::of(bytes);
        for place in places {
            let bytes = content
                .section(*place)
                .map_err(|source| ObjectError::Read {
                    object: object.to_owned(),
                    source,
                })?;
            self.section(Span::new(bytes, place.offset), &mut budget)
                .map_err(|fault| ObjectError::of(object, fault))?;
        }
        Ok(())
    }

    fn section(&mut self, section: Span<'_>, budget: &mut Budget) -> Result<(), Fault> {
        let code = &mut self.code;
        code.device = true;
        match self.backend {
            Backend::Cuda => cuda::read_section(section, self.unpacker, budget, &mut code.symbols),
            Backend::Rocm => {
                let (kernels, targets) = (&mut code.symbols, &mut code.offload_targets);
                rocm::read_section(section, budget, rocm::Found { kernels, targets })
            }
            other => {
                let expected = format!("a backend with a reader, found {other}");
                Err(Fault::new(Reason::Unsupported, section.offset(0), expected))
            }
        }
    }
}
