#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct zip;

namespace systole::frontend {

/// A zip file. Every method throws ModelError if the file is damaged.
class ZipFile {
public:
    explicit ZipFile(const std::filesystem::path& path);
    /// A file in memory: its bytes, which must outlive this object.
    explicit ZipFile(std::string_view bytes);

    bool has(const std::string& entry) const;
    /// The bytes of an entry, at most `most`. Throws ModelError if the entry is not there, is there twice, or
    /// claims more bytes than so few packed ones can hold.
    std::string read(const std::string& entry, std::uint64_t most) const;

private:
    struct Close {
        void operator()(zip* file) const;
    };

    std::unique_ptr<zip, Close> file_;
};

}  // namespace systole::frontend
