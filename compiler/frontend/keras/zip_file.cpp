#include "compiler/frontend/keras/zip_file.h"

#include <fmt/format.h>
#include <zip.h>

#include <cstring>
#include <new>
#include <optional>

#include "compiler/ir/model_error.h"
#include "compiler/ir/names.h"

namespace systole::frontend {
namespace {

struct CloseEntry {
    void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};

zip_t* open(zip_source_t* source) {
    zip_error_t error;
    zip_error_init(&error);
    zip_t* const file = source == nullptr ? nullptr : zip_open_from_source(source, ZIP_RDONLY, &error);
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    if (file != nullptr) return file;
    zip_source_free(source);
    throw ModelError(fmt::format("it is not a zip file, or it is damaged: {}", reason));
}

/// The number of the only entry with a name; nullopt if there is none. Throws ModelError if there are
/// several, of which readers would choose different ones.
std::optional<zip_uint64_t> find_entry(zip_t* file, const std::string& name) {
    std::optional<zip_uint64_t> found;
    const zip_int64_t count = zip_get_num_entries(file, 0);
    for (zip_int64_t i = 0; i < count; ++i) {
        const auto number = static_cast<zip_uint64_t>(i);
        const char* const other = zip_get_name(file, number, ZIP_FL_ENC_RAW);
        if (other == nullptr || name != other) continue;
        if (found) throw ModelError(fmt::format("it has two entries {}", ir::quoted(name)));
        found = number;
    }
    return found;
}

}  // namespace

void ZipFile::Close::operator()(zip* file) const {
    zip_discard(file);
}

ZipFile::ZipFile(const std::filesystem::path& path)
    : file_(open(zip_source_file_create(path.c_str(), 0, -1, nullptr))) {}

ZipFile::ZipFile(std::string_view bytes)
    : file_(open(zip_source_buffer_create(bytes.data(), bytes.size(), 0, nullptr))) {}

bool ZipFile::has(const std::string& entry) const {
    return find_entry(file_.get(), entry).has_value();
}

std::string ZipFile::read(const std::string& entry, std::uint64_t most) const {
    const auto number = find_entry(file_.get(), entry);
    if (!number) throw ModelError(fmt::format("it has no entry {}", ir::quoted(entry)));
    const auto fail = [&](const std::string& rule) {
        throw ModelError(fmt::format("entry {}: {}", ir::quoted(entry), rule));
    };
    zip_stat_t about;
    constexpr zip_uint64_t needed =
        ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if (zip_stat_index(file_.get(), *number, 0, &about) != 0 || (about.valid & needed) != needed) {
        fail("it is damaged");
    }
    if (about.encryption_method != ZIP_EM_NONE) fail("it is encrypted");
    if (about.comp_method != ZIP_CM_STORE && about.comp_method != ZIP_CM_DEFLATE) {
        fail(fmt::format("it is packed by method {}; only 0 (stored) and 8 (deflate) are read",
                         about.comp_method));
    }
    if (about.size > most) fail(fmt::format("it has {} bytes; it may have at most {}", about.size, most));
    // Ten times what the text of a model is packed to, and a hundred times what weights are.
    constexpr zip_uint64_t largest_compression = 200;
    const bool is_packed = about.comp_method == ZIP_CM_DEFLATE;
    if (about.size / (is_packed ? largest_compression : 1) > about.comp_size) {
        fail(fmt::format("it claims {} bytes; the file has {} for them", about.size, about.comp_size));
    }
    std::string bytes;
    try {
        bytes.resize(about.size);
    } catch (const std::bad_alloc&) {
        fail(fmt::format("there is not enough memory for its {} bytes", about.size));
    }
    const std::unique_ptr<zip_file_t, CloseEntry> file(zip_fopen_index(file_.get(), *number, 0));
    // The byte behind the last one is asked for too: at the end, the library checks the sum.
    zip_int64_t end = -1;
    if (file != nullptr &&
        zip_fread(file.get(), bytes.data(), bytes.size()) == static_cast<zip_int64_t>(bytes.size())) {
        char behind = 0;
        end = zip_fread(file.get(), &behind, 1);
    }
    if (end != 0) fail("it is damaged");
    return bytes;
}

}  // namespace systole::frontend
