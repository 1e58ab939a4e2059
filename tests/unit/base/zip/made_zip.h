#pragma once

#include <zip.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/files.h"

namespace systole::tests {

/// An entry of a zip file, stored. A test may let it claim what is not so.
struct MadeEntry {
    std::string name;
    std::string bytes;
    std::uint16_t flags = 0;
    std::uint16_t method = 0;
    std::uint32_t claimed_bytes = static_cast<std::uint32_t>(bytes.size());
    std::uint32_t crc_error = 0;
};

/// CRC-32 as zip files have it.
inline std::uint32_t crc32(std::string_view bytes) {
    constexpr std::uint32_t polynomial = 0xedb88320;
    std::uint32_t crc = ~std::uint32_t{0};
    for (const char c : bytes) {
        crc ^= static_cast<std::uint8_t>(c);
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) == 0 ? 0 : polynomial);
    }
    return ~crc;
}

/// The bytes of a zip file.
inline std::string made_zip(const std::vector<MadeEntry>& entries) {
    std::string file;
    std::string directory;
    const auto put = [](std::string& to, std::uint64_t value, int bytes) {
        for (int i = 0; i < bytes; ++i) to += i < 8 ? static_cast<char>(value >> (8 * i)) : '\0';
    };
    const auto put_common = [&](std::string& to, const MadeEntry& entry) {
        put(to, 20, 2);  // version needed
        put(to, entry.flags, 2);
        put(to, entry.method, 2);
        put(to, 0, 4);  // time and date
        put(to, crc32(entry.bytes) ^ entry.crc_error, 4);
        put(to, entry.bytes.size(), 4);
        put(to, entry.claimed_bytes, 4);
        put(to, entry.name.size(), 2);
        put(to, 0, 2);  // extra field
    };
    for (const MadeEntry& entry : entries) {
        const std::size_t place = file.size();
        file += "PK\x03\x04";
        put_common(file, entry);
        file += entry.name + entry.bytes;
        directory += "PK\x01\x02";
        put(directory, 20, 2);  // version made by
        put_common(directory, entry);
        put(directory, 0, 2 + 2 + 2 + 4);  // comment, disk, attributes
        put(directory, place, 4);
        directory += entry.name;
    }
    const std::size_t place = file.size();
    file += directory + "PK\x05\x06";
    put(file, 0, 2 + 2);
    put(file, entries.size(), 2);
    put(file, entries.size(), 2);
    put(file, directory.size(), 4);
    put(file, place, 4);
    put(file, 0, 2);
    return file;
}

/// An entry of a zip file that libzip writes.
struct PackedEntry {
    std::string name;
    std::string bytes;
    zip_int32_t method = ZIP_CM_DEFLATE;
};

/// The bytes of a zip file that libzip writes.
inline std::string packed_zip(const std::vector<PackedEntry>& entries) {
    const Folder folder;
    const std::string path = (folder / "made.zip").string();
    int error = 0;
    zip_t* const archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &error);
    REQUIRE(archive != nullptr);
    for (const PackedEntry& entry : entries) {
        zip_source_t* const source = zip_source_buffer(archive, entry.bytes.data(), entry.bytes.size(), 0);
        REQUIRE(source != nullptr);
        const zip_int64_t index = zip_file_add(archive, entry.name.c_str(), source, ZIP_FL_ENC_UTF_8);
        REQUIRE(index >= 0);
        REQUIRE(zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), entry.method, 0) == 0);
    }
    REQUIRE(zip_close(archive) == 0);
    return text_in(path);
}

}  // namespace systole::tests
