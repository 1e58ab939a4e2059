#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/user_error.h"

struct zip;

/// Zip files, which hold networks (.keras) and arrays (.npz).
namespace systole {

/// A zip file cannot be used. The message names the entry and the rule in one line; readers put the file's
/// name in front.
class ZipError : public UserError {
public:
    using UserError::UserError;
};

/// How many bytes an entry may have.
struct ZipLimits {
    /// Deflate expands a byte to at most as many.
    static constexpr std::uint64_t deflate_expansion = 1032;

    std::uint64_t most_bytes = 0;
    /// Bytes that one byte of a deflated entry may stand for. Stored entries have the bytes that they claim.
    std::uint64_t most_expansion = deflate_expansion;
};

/// Whether a file begins as zip files do: with an entry, or, without entries, with its end.
bool is_zip(std::string_view head);

/// A zip file whose entries are stored or deflated and have names of their own. Every method throws ZipError
/// if the file is damaged.
class ZipFile {
public:
    explicit ZipFile(const std::filesystem::path& path);
    /// A file in memory: its bytes, which must outlive this object.
    explicit ZipFile(std::string_view bytes);

    /// The names of all entries. Throws ZipError if there are more than `most`.
    std::vector<std::string> entries(std::uint64_t most) const;
    bool has(const std::string& entry) const;
    /// The bytes of an entry. Throws ZipError if the entry is not there, or claims more bytes than the limits
    /// allow; then nothing is allocated.
    std::string read(const std::string& entry, const ZipLimits& limits) const;

private:
    struct Close {
        void operator()(zip* file) const;
    };

    std::unique_ptr<zip, Close> file_;
};

/// An entry of a zip file to write.
struct ZipEntry {
    std::string name;
    std::string bytes;
};

/// The bytes of a zip file with these entries, which are stored. Equal entries give equal bytes: no entry has
/// the time at which it was written. Throws ZipError, with the entry, for two of one name.
std::string zip_bytes(std::span<const ZipEntry> entries);

}  // namespace systole
