#include <fmt/format.h>
#include <zip.h>

#include <memory>

#include "base/message_text.h"
#include "base/zip/zip_file.h"

namespace systole {
namespace {

struct FreeSource {
    void operator()(zip_source_t* source) const { zip_source_free(source); }
};
struct Discard {
    void operator()(zip_t* file) const { zip_discard(file); }
};

void add(zip_t* file, const ZipEntry& entry) {
    const auto fail = [&] {
        throw ZipError(
            fmt::format("entry {}: it cannot be written: {}", in_quotes(entry.name), zip_strerror(file)));
    };
    zip_source_t* const bytes = zip_source_buffer(file, entry.bytes.data(), entry.bytes.size(), 0);
    if (bytes == nullptr) fail();
    const zip_int64_t number = zip_file_add(file, entry.name.c_str(), bytes, ZIP_FL_ENC_UTF_8);
    if (number < 0) {
        zip_source_free(bytes);
        fail();
    }
    const auto place = static_cast<zip_uint64_t>(number);
    if (zip_set_file_compression(file, place, ZIP_CM_STORE, 0) != 0) fail();
    constexpr zip_uint16_t first_of_january_1980 = 1U << 5U | 1U;  // where the format's dates begin
    if (zip_file_set_dostime(file, place, 0, first_of_january_1980, 0) != 0) fail();
}

}  // namespace

std::string zip_bytes(std::span<const ZipEntry> entries) {
    // The library leaves out a file without entries: this is the end of one.
    constexpr std::size_t end_bytes = 22;
    if (entries.empty()) return "PK\x05\x06" + std::string(end_bytes - 4, '\0');
    zip_error_t error;
    zip_error_init(&error);
    const auto fail = [](zip_error_t* reason) {
        const std::string text = zip_error_strerror(reason);
        zip_error_fini(reason);
        throw ZipError(fmt::format("it cannot be written: {}", text));
    };
    const std::unique_ptr<zip_source_t, FreeSource> target(zip_source_buffer_create(nullptr, 0, 0, &error));
    if (target == nullptr) fail(&error);
    // The file and this function own the target.
    zip_source_keep(target.get());
    std::unique_ptr<zip_t, Discard> file(zip_open_from_source(target.get(), ZIP_TRUNCATE, &error));
    if (file == nullptr) {
        zip_source_free(target.get());
        fail(&error);
    }
    zip_error_fini(&error);
    for (const ZipEntry& entry : entries) add(file.get(), entry);
    if (zip_close(file.get()) != 0)
        throw ZipError(fmt::format("it cannot be written: {}", zip_strerror(file.get())));
    static_cast<void>(file.release());  // closed
    const auto need = [&](bool worked) {
        if (!worked) fail(zip_source_error(target.get()));
    };
    need(zip_source_open(target.get()) == 0);
    need(zip_source_seek(target.get(), 0, SEEK_END) == 0);
    std::string bytes(static_cast<std::size_t>(zip_source_tell(target.get())), '\0');
    need(zip_source_seek(target.get(), 0, SEEK_SET) == 0);
    need(zip_source_read(target.get(), bytes.data(), bytes.size()) == static_cast<zip_int64_t>(bytes.size()));
    zip_source_close(target.get());
    return bytes;
}

}  // namespace systole
