#include <zip.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "compiler/ir/names.h"
#include "sim/run/input/formats.h"

namespace systole::input {
namespace {

constexpr std::string_view npy_extension = ".npy";
constexpr zip_int64_t most_arrays = 4096;
/// Deflate expands one byte to at most 1032: an entry that claims more is wrong.
constexpr std::uint64_t max_zip_ratio = 1032;

struct ArchiveCloser {
    void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct EntryCloser {
    void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};

[[noreturn]] void fail(std::string_view file, std::string_view what) {
    throw InputError(fmt::format("{}: {}", file, what));
}

/// A zip archive in memory.
class Archive {
public:
    Archive(std::span<const std::uint8_t> bytes, std::string_view file) : file_(file) {
        zip_error_t error;
        zip_error_init(&error);
        zip_source_t* const source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
        if (source == nullptr) throw std::bad_alloc();
        archive_.reset(zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error));
        if (archive_ == nullptr) {
            const std::string reason = zip_error_strerror(&error);
            zip_source_free(source);
            zip_error_fini(&error);
            fail(file_, "the zip archive cannot be read: " + reason);
        }
        zip_error_fini(&error);
    }

    std::uint64_t entries() const {
        const zip_int64_t entries = zip_get_num_entries(archive_.get(), 0);
        if (entries > most_arrays)
            fail(file_, fmt::format("the zip archive has {} entries; at most {}", entries, most_arrays));
        return static_cast<std::uint64_t>(std::max<zip_int64_t>(entries, 0));
    }

    /// An entry's name and its bytes, of which `most` are allowed.
    std::pair<std::string, std::vector<std::uint8_t>> read(std::uint64_t index, std::uint64_t most) const {
        zip_stat_t facts;
        constexpr zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                                        ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
        if (zip_stat_index(archive_.get(), index, 0, &facts) != 0 || (facts.valid & needed) != needed) {
            fail(file_, fmt::format("entry {} of the zip archive has no name or no size", index));
        }
        const std::string entry = fmt::format("{}: entry {}", file_, ir::quoted(facts.name));
        if (facts.encryption_method != ZIP_EM_NONE) fail(entry, "it is encrypted");
        if (facts.comp_method != ZIP_CM_STORE && facts.comp_method != ZIP_CM_DEFLATE) {
            fail(entry, fmt::format("compression method {} is not read; stored and deflated entries are",
                                    facts.comp_method));
        }
        if (facts.size > most) {
            fail(entry, fmt::format("it takes {} bytes; all arrays together may take {}", facts.size,
                                    max_input_bytes));
        }
        if (facts.size / max_zip_ratio > facts.comp_size) {
            fail(entry, fmt::format("it says that its {} bytes decompress to {}, which is impossible",
                                    facts.comp_size, facts.size));
        }
        return {facts.name, contents(index, facts.size, entry)};
    }

private:
    std::vector<std::uint8_t> contents(std::uint64_t index, std::uint64_t size,
                                       const std::string& entry) const {
        const std::unique_ptr<zip_file_t, EntryCloser> opened(zip_fopen_index(archive_.get(), index, 0));
        if (opened == nullptr) fail(entry, zip_strerror(archive_.get()));
        std::vector<std::uint8_t> bytes(size);
        std::uint64_t done = 0;
        while (done < size) {
            const zip_int64_t more = zip_fread(opened.get(), bytes.data() + done, size - done);
            if (more < 0) fail(entry, zip_file_strerror(opened.get()));
            if (more == 0) fail(entry, fmt::format("it ends after {} of its {} bytes", done, size));
            done += static_cast<std::uint64_t>(more);
        }
        // libzip compares the checksum at the end of the entry.
        std::uint8_t byte = 0;
        const zip_int64_t after = zip_fread(opened.get(), &byte, 1);
        if (after < 0) fail(entry, zip_file_strerror(opened.get()));
        if (after > 0) fail(entry, fmt::format("it has more than its {} bytes", size));
        return bytes;
    }

    std::string file_;
    std::unique_ptr<zip_t, ArchiveCloser> archive_;
};

}  // namespace

bool is_zip(std::span<const std::uint8_t> bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return text.starts_with("PK\x03\x04") || text.starts_with("PK\x05\x06");
}

std::vector<Array> read_npz(std::span<const std::uint8_t> bytes, std::string_view file) {
    const Archive archive(bytes, file);
    std::vector<Array> arrays;
    std::uint64_t read = 0;
    const std::uint64_t entries = archive.entries();
    for (std::uint64_t index = 0; index < entries; ++index) {
        const auto [name, contents] = archive.read(index, max_input_bytes - read);
        read += contents.size();
        const std::string entry = fmt::format("{}: entry {}", file, ir::quoted(name));
        if (!name.ends_with(npy_extension))
            fail(entry, "its name does not end in .npy, as those of an .npz file do");
        ByteStream stream(contents, entry);
        Array array = read_npy_array(stream);
        array.name = name.substr(0, name.size() - npy_extension.size());
        const bool is_twice =
            std::ranges::any_of(arrays, [&](const Array& other) { return other.name == array.name; });
        if (is_twice) fail(entry, "the archive has two arrays of that name");
        arrays.push_back(std::move(array));
    }
    if (arrays.empty()) fail(file, "the zip archive is empty; an .npz file holds arrays");
    return arrays;
}

}  // namespace systole::input
