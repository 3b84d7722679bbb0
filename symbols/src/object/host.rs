//! The host side of an object: its section table, read without reading the object.

use crate::cuda;
use crate::input::{Fault, Reason};
use crate::rocm;
use kernrec_schemas::Backend;
use object::Endianness;
use object::elf::{
    FileHeader64, SHF_COMPRESSED, SHT_NOBITS, SHT_NULL, SHT_STRTAB, SectionFlags, SectionType,
};
use object::read::elf::{FileHeader, SectionHeader, SectionTable};
use object::read::{ReadRef, SectionIndex, StringTable};

/// What a section name says about the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Device code of this backend, to be read.
    Device(Backend),
    /// HIP's wrapper, without which an object has no linked HIP code.
    HipWrapper,
    /// Code that a later device link produces kernels from.
    Later,
    /// Host code that only the linker turns into sections (`-flto`).
    HostLto,
}

/// A device section's place in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) offset: u64,
    pub(crate) size: u64,
    /// CUDA code that the device linker joins with other objects'.
    pub(crate) relocatable: bool,
}

/// The device sections of the ELF image that `data` holds, which starts at `base` of its file.
pub(crate) fn device_sections<'data, R: ReadRef<'data>>(
    data: R,
    base: u64,
    backend: Backend,
) -> Result<Vec<Place>, Fault> {
    let roles = roles(data, base)?;
    let has = |wanted: fn(Role) -> bool| roles.iter().find(|(role, _)| wanted(*role));
    if let Some((_, place)) = has(|role| role == Role::Later) {
        let expected = "device code that is linked, found code for a later device link";
        return Err(Fault::new(
            Reason::RelocatableDeviceCode,
            place.offset,
            expected,
        ));
    }
    let other = |role: &Role| matches!(role, Role::Device(of) if *of != backend);
    if let Some((_, place)) = roles.iter().find(|(role, _)| other(role)) {
        let expected = format!("{backend} device code, found another backend's");
        return Err(Fault::new(Reason::Unsupported, place.offset, expected));
    }
    let device: Vec<Place> = roles
        .iter()
        .filter(|(role, _)| *role == Role::Device(backend))
        .map(|(_, at)| *at)
        .collect();
    if device.is_empty() {
        check_really_host(&roles)?;
    }
    check_disjoint(&device)?;
    Ok(device)
}

/// An object without device sections must not be one whose device code is elsewhere.
fn check_really_host(roles: &[(Role, Place)]) -> Result<(), Fault> {
    for (role, place) in roles {
        match role {
            Role::HipWrapper => {
                let expected = "a `.hip_fatbin` section beside its wrapper (built with -fgpu-rdc?)";
                return Err(Fault::new(
                    Reason::RelocatableDeviceCode,
                    place.offset,
                    expected,
                ));
            }
            Role::HostLto => {
                let expected = "machine code, found link-time-optimisation code of the host";
                return Err(Fault::new(Reason::LtoOnly, place.offset, expected));
            }
            Role::Device(_) | Role::Later => {}
        }
    }
    Ok(())
}

fn check_disjoint(device: &[Place]) -> Result<(), Fault> {
    let mut sorted = device.to_vec();
    sorted.sort_unstable_by_key(|place| place.offset);
    for pair in sorted.windows(2) {
        if pair[1].offset < pair[0].offset.saturating_add(pair[0].size) {
            return Err(Fault::malformed(
                pair[1].offset,
                "device sections that do not overlap",
            ));
        }
    }
    Ok(())
}

fn roles<'data, R: ReadRef<'data>>(data: R, base: u64) -> Result<Vec<(Role, Place)>, Fault> {
    let fault =
        |what: &str, error: object::Error| Fault::malformed(base, format!("{what} ({error})"));
    let header = FileHeader64::<Endianness>::parse(data)
        .map_err(|error| fault("a 64-bit ELF header", error))?;
    let endian = header
        .endian()
        .map_err(|error| fault("a byte order", error))?;
    let sections = header
        .sections(endian, data)
        .map_err(|error| fault("a section table", error))?;
    if sections.is_empty() {
        // Without its table nothing tells a host object from one with device code.
        return Err(Fault::malformed(base, "a section table, found none"));
    }
    let length = data
        .len()
        .map_err(|()| Fault::malformed(base, "a file of known size"))?;
    let names = names(header, endian, &sections, data)
        .map_err(|error| fault("the table of section names", error))?
        .ok_or_else(|| Fault::malformed(base, "a table of section names"))?;
    let null = sections.iter().next();
    if null.is_none_or(|section| section.sh_type(endian) != SHT_NULL) {
        return Err(Fault::malformed(
            base,
            "a section table that starts with no section",
        ));
    }
    let mut found = Vec::new();
    for section in sections.iter() {
        check_placed(section, endian, base, length)?;
        let name = section
            .name(endian, names)
            .map_err(|error| fault("a section's name", error))?;
        let Some(role) = role(name) else { continue };
        let offset = base.saturating_add(section.sh_offset(endian));
        let place = Place {
            offset,
            size: section.sh_size(endian),
            relocatable: name == cuda::RELOCATABLE.as_bytes(),
        };
        if matches!(role, Role::Device(_)) {
            let end = base.saturating_add(length);
            check_stored(
                section.sh_type(endian),
                section.sh_flags(endian),
                place,
                end,
            )?;
        }
        found.push((role, place));
    }
    Ok(found)
}

/// The names of all sections, read at once: one by one they cost a system call each. `None` where a section of another
/// kind is said to hold them, through which every section would be one of no interest.
fn names<'data, R: ReadRef<'data>>(
    header: &FileHeader64<Endianness>,
    endian: Endianness,
    sections: &SectionTable<'data, FileHeader64<Endianness>, R>,
    data: R,
) -> Result<Option<StringTable<'data>>, object::Error> {
    let index = header.shstrndx(endian, data)?;
    let section = sections.section(SectionIndex(index as usize))?;
    if section.sh_type(endian) != SHT_STRTAB {
        return Ok(None);
    }
    let bytes = section.data(endian, data)?;
    Ok(Some(StringTable::new(bytes, 0, bytes.len() as u64)))
}

/// A section table that was moved or overwritten shows in sections that the file cannot hold.
fn check_placed<S: SectionHeader<Endian = Endianness>>(
    section: &S,
    endian: Endianness,
    base: u64,
    length: u64,
) -> Result<(), Fault> {
    let Some((offset, size)) = section.file_range(endian) else {
        return Ok(());
    };
    if offset.checked_add(size).is_some_and(|end| end <= length) {
        return Ok(());
    }
    let expected = format!("a section of {size} bytes within the file's {length}");
    Err(Fault::malformed(base.saturating_add(offset), expected))
}

fn check_stored(
    kind: SectionType,
    flags: SectionFlags,
    place: Place,
    end: u64,
) -> Result<(), Fault> {
    if kind == SHT_NOBITS {
        let expected = "device code in the file, found a section without bytes (debug file?)";
        return Err(Fault::new(Reason::NoReadableEntry, place.offset, expected));
    }
    if flags.contains(SHF_COMPRESSED) {
        return Err(Fault::new(
            Reason::Unsupported,
            place.offset,
            "a section that is not compressed",
        ));
    }
    if place
        .offset
        .checked_add(place.size)
        .is_none_or(|last| last > end)
    {
        let expected = format!("a section of {} bytes within the file's {end}", place.size);
        return Err(Fault::malformed(place.offset, expected));
    }
    Ok(())
}

fn role(name: &[u8]) -> Option<Role> {
    let bundled = name.strip_prefix(rocm::BUNDLE_SECTION.as_bytes());
    if let Some(id) = bundled {
        return (!id.starts_with(b"host")).then_some(Role::Later);
    }
    if cuda::SECTIONS
        .iter()
        .any(|section| section.as_bytes() == name)
    {
        return Some(Role::Device(Backend::Cuda));
    }
    if name == rocm::FATBIN.as_bytes() {
        return Some(Role::Device(Backend::Rocm));
    }
    if name == rocm::WRAPPER.as_bytes() {
        return Some(Role::HipWrapper);
    }
    if name == rocm::OFFLOADING.as_bytes() {
        return Some(Role::Later);
    }
    name.starts_with(b".gnu.lto_").then_some(Role::HostLto)
}
