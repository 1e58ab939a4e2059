#include "base/zip/zip_file.h"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <new>
#include <optional>

#include "base/message_text.h"

namespace systole {
namespace {

struct CloseEntry {
    void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};

[[noreturn]] void fail(const std::string& entry, const std::string& rule) {
    throw ZipError(fmt::format("entry {}: {}", in_quotes(entry), rule));
}

zip_t* open(zip_source_t* source) {
    zip_error_t error;
    zip_error_init(&error);
    zip_t* const file =
        source == nullptr ? nullptr : zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error);
    const std::string reason = zip_error_strerror(&error);
    const bool is_twice = zip_error_code_zip(&error) == ZIP_ER_EXISTS;
    zip_error_fini(&error);
    if (file != nullptr) return file;
    zip_source_free(source);
    // Readers would choose different ones.
    if (is_twice) throw ZipError("it has two entries of one name");
    throw ZipError(fmt::format("it is not a zip file, or it is damaged: {}", reason));
}

std::uint64_t count_of(zip_t* file) {
    return static_cast<std::uint64_t>(std::max<zip_int64_t>(zip_get_num_entries(file, 0), 0));
}

/// The number of an entry; nullopt if there is none of that name.
std::optional<zip_uint64_t> find_entry(zip_t* file, const std::string& name) {
    const zip_int64_t number = zip_name_locate(file, name.c_str(), 0);
    if (number < 0) return std::nullopt;
    return static_cast<zip_uint64_t>(number);
}

/// The size of an entry, checked before anything is allocated for it.
std::uint64_t checked_size(zip_t* file, zip_uint64_t number, const std::string& entry,
                           const ZipLimits& limits) {
    zip_stat_t about;
    constexpr zip_uint64_t needed =
        ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if (zip_stat_index(file, number, 0, &about) != 0 || (about.valid & needed) != needed) {
        fail(entry, "it is damaged: it has no size");
    }
    if (about.encryption_method != ZIP_EM_NONE) fail(entry, "it is encrypted");
    if (about.comp_method != ZIP_CM_STORE && about.comp_method != ZIP_CM_DEFLATE) {
        fail(entry, fmt::format("it is packed by method {}; only 0 (stored) and 8 (deflate) are read",
                                about.comp_method));
    }
    if (about.size > limits.most_bytes) {
        fail(entry, fmt::format("it has {} bytes; it may have at most {}", about.size, limits.most_bytes));
    }
    const std::uint64_t expansion = about.comp_method == ZIP_CM_DEFLATE ? limits.most_expansion : 1;
    if (about.size / expansion > about.comp_size) {
        fail(entry, fmt::format("it claims {} bytes; the file has {} for them", about.size, about.comp_size));
    }
    return about.size;
}

}  // namespace

bool is_zip(std::string_view head) {
    return head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06");
}

void ZipFile::Close::operator()(zip* file) const {
    zip_discard(file);
}

ZipFile::ZipFile(const std::filesystem::path& path)
    : file_(open(zip_source_file_create(path.c_str(), 0, -1, nullptr))) {}

ZipFile::ZipFile(std::string_view bytes)
    : file_(open(zip_source_buffer_create(bytes.data(), bytes.size(), 0, nullptr))) {}

std::vector<std::string> ZipFile::entries(std::uint64_t most) const {
    const std::uint64_t count = count_of(file_.get());
    if (count > most) throw ZipError(fmt::format("it has {} entries; it may have at most {}", count, most));
    std::vector<std::string> names;
    for (zip_uint64_t number = 0; number < count; ++number) {
        const char* const name = zip_get_name(file_.get(), number, 0);
        if (name == nullptr) throw ZipError(fmt::format("it is damaged: entry {} has no name", number));
        names.emplace_back(name);
    }
    return names;
}

bool ZipFile::has(const std::string& entry) const {
    return find_entry(file_.get(), entry).has_value();
}

std::string ZipFile::read(const std::string& entry, const ZipLimits& limits) const {
    const auto number = find_entry(file_.get(), entry);
    if (!number) throw ZipError(fmt::format("it has no entry {}", in_quotes(entry)));
    const std::uint64_t size = checked_size(file_.get(), *number, entry, limits);
    std::string bytes;
    try {
        bytes.resize(size);
    } catch (const std::bad_alloc&) {
        fail(entry, fmt::format("there is not enough memory for its {} bytes", size));
    }
    const std::unique_ptr<zip_file_t, CloseEntry> opened(zip_fopen_index(file_.get(), *number, 0));
    if (opened == nullptr) fail(entry, fmt::format("it is damaged: {}", zip_strerror(file_.get())));
    const auto read_into = [&](char* to, std::uint64_t most) {
        const zip_int64_t count = zip_fread(opened.get(), to, most);
        if (count < 0) fail(entry, fmt::format("it is damaged: {}", zip_file_strerror(opened.get())));
        return static_cast<std::uint64_t>(count);
    };
    for (std::uint64_t done = 0; done < size;) {
        const std::uint64_t more = read_into(bytes.data() + done, size - done);
        if (more == 0) fail(entry, fmt::format("it ends after {} of its {} bytes", done, size));
        done += more;
    }
    // The byte behind the last one is asked for too: at the end, the library compares the checksum.
    char behind = 0;
    if (read_into(&behind, 1) != 0) fail(entry, fmt::format("it has more than its {} bytes", size));
    return bytes;
}

}  // namespace systole
