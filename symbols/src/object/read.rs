//! One object file, shared library or archive to its kernels.

use super::error::ObjectError;
use super::host::device_sections;
use crate::cuda::DeviceLinks;
use crate::input::{Budget, Fault, Reason, Region};
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
    /// CUDA: what relocatable device code shares with other objects. Empty for whole programs.
    pub links: DeviceLinks,
}

/// Files up to this size are read with one call. Of larger ones only what is looked at is read:
/// tables, headers, texts and what is compressed, each with a call or two.
const WHOLE: u64 = 64 << 10;

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
        // Before it is opened: a FIFO that nobody writes to would be waited for.
        let metadata = fs_err::metadata(path).map_err(read_error)?;
        if !metadata.is_file() {
            let fault = Fault::new(Reason::Unsupported, 0, "a regular file");
            return Err(ObjectError::of(&object, fault));
        }
        let file = fs_err::File::open(path).map_err(read_error)?;
        let metadata = file.metadata().map_err(read_error)?;
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

impl Reader<'_> {
    fn read(
        &mut self,
        file: &std::fs::File,
        length: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<(), ObjectError> {
        let whole = usize::try_from(length).ok().filter(|_| length <= WHOLE);
        let Some(size) = whole else {
            return self.parse(&ReadCache::new(file), length);
        };
        buffer.resize(size, 0);
        let read_error = |source| ObjectError::Read {
            object: self.object.clone(),
            source,
        };
        file.read_exact_at(buffer, 0).map_err(read_error)?;
        self.parse(buffer.as_slice(), length)
    }

    fn parse<'data, R: ReadRef<'data>>(&mut self, data: R, length: u64) -> Result<(), ObjectError> {
        let magic = data.read_bytes_at(0, length.min(8)).unwrap_or_default();
        if magic.starts_with(b"!<arch>\n") {
            return self.archive(data);
        }
        let object = self.object.clone();
        if magic.starts_with(b"\x7fELF") {
            return self
                .image(data, 0, length)
                .map_err(|fault| ObjectError::of(&object, fault));
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

    fn archive<'data, R: ReadRef<'data>>(&mut self, data: R) -> Result<(), ObjectError> {
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
            let read = if magic.starts_with(b"\x7fELF") {
                self.image(data, offset, size)
            } else {
                let expected = "archive members that are ELF objects";
                Err(Fault::new(Reason::Unsupported, offset, expected))
            };
            read.map_err(|fault| ObjectError::of(&member, fault))?;
        }
        Ok(())
    }

    /// The ELF image of `size` bytes at `offset` of the file.
    fn image<'data, R: ReadRef<'data>>(
        &mut self,
        data: R,
        offset: u64,
        size: u64,
    ) -> Result<(), Fault> {
        let image = Region::in_file(data, offset, size);
        let places = device_sections(image, offset, self.backend)?;
        let bytes = places
            .iter()
            .fold(0_u64, |sum, place| sum.saturating_add(place.size));
        let mut budget = Budget::of(bytes);
        for place in places {
            let section = Region::in_file(data, place.offset, place.size);
            self.section(section, place.relocatable, &mut budget)?;
        }
        Ok(())
    }

    fn section<'data, R: ReadRef<'data>>(
        &mut self,
        section: Region<R>,
        relocatable: bool,
        budget: &mut Budget,
    ) -> Result<(), Fault> {
        let code = &mut self.code;
        code.device = true;
        match self.backend {
            Backend::Cuda => {
                let kernels = &mut code.symbols;
                let links = relocatable.then_some(&mut code.links);
                let mut found = cuda::Found { kernels, links };
                cuda::read_section(section, self.unpacker, budget, &mut found)
            }
            Backend::Rocm => {
                let (kernels, targets) = (&mut code.symbols, &mut code.offload_targets);
                let bundles = section.bundles()?;
                rocm::read_section(bundles, budget, rocm::Found { kernels, targets })
            }
            other => {
                let expected = format!("a backend with a reader, found {other}");
                Err(Fault::new(Reason::Unsupported, section.offset(0), expected))
            }
        }
    }
}
