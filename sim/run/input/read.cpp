#include "sim/run/input/read.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "base/input_file.h"
#include "base/message_text.h"
#include "base/text_encoding.h"
#include "base/zip/zip_file.h"
#include "sim/run/input/byte_stream.h"
#include "sim/run/input/formats.h"
#include "sim/run/input/resize.h"

namespace systole::input {
namespace {

namespace fs = std::filesystem;

std::vector<std::uint8_t> read_file(const fs::path& path) {
    return read_input_file<InputError, std::vector<std::uint8_t>>(path, max_input_bytes);
}

bool is_npz(std::span<const std::uint8_t> bytes) {
    return is_zip({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

constexpr std::string_view known_formats = "IDX, NPY, NPZ, PNG, JPEG or BMP";
constexpr std::string_view picture_formats = "PNG, JPEG or BMP";

std::vector<fs::path> files_in(const fs::path& directory) {
    std::error_code error;
    std::vector<fs::path> files;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
        if (!entry->path().filename().string().starts_with('.')) files.push_back(entry->path());
    }
    if (error) throw InputError(fmt::format("{}: {}", directory.string(), error.message()));
    if (files.empty())
        throw InputError(fmt::format("{}: the directory is empty; it must hold {} files", directory.string(),
                                     picture_formats));
    std::sort(files.begin(), files.end());
    return files;
}

/// The check of the sizes in files; none if the options ask for another size.
SizeCheck size_check(const ReadOptions& options) {
    return options.resize || options.crop ? SizeCheck() : options.check_size;
}

/// The picture in a file of one; absent if its bytes are none.
std::optional<Images> read_picture(std::span<const std::uint8_t> bytes, std::string_view file,
                                   const ReadOptions& options) {
    if (is_png(bytes)) return read_png(bytes, file, size_check(options));
    if (is_jpeg(bytes)) return read_jpeg(bytes, file, size_check(options));
    if (is_bmp(bytes)) return read_bmp(bytes, file, size_check(options));
    return std::nullopt;
}

/// The images in the size and order of channels that the options ask for.
Images adapted(Images images, const ReadOptions& options, std::string_view file) {
    if (options.resize) images = resized(images, *options.resize, file);
    if (options.crop) images = cropped(images, *options.crop, file);
    if (options.reverse_channels) reverse_channels(images, file);
    return images;
}

Images read_as_in_file(std::span<const std::uint8_t> bytes, std::string_view file,
                       const ReadOptions& options) {
    if (!options.is_only_input && !is_npz(bytes)) {
        throw InputError(
            fmt::format("{}: the network has several inputs; NAME={} says which one it is for", file, file));
    }
    if (bytes.empty())
        throw InputError(fmt::format("{}: is empty; it must be an {} file", file, known_formats));
    if (auto picture = read_picture(bytes, file, options)) return *std::move(picture);
    if (is_npz(bytes)) return NpzArrays(bytes, file).images(options, file);
    ByteStream stream(bytes, file);
    if (is_npy(stream)) return read_npy_images(stream, options);
    if (is_idx(stream)) return read_idx_images(stream, size_check(options));
    throw InputError(fmt::format("{}: the first bytes are not those of an {} file", file, known_formats));
}

/// Joins the images of several files to one batch.
class Batch {
public:
    void add(Images images, const fs::path& path) {
        if (images_) {
            append(*images_, std::move(images), path.string());
        } else {
            images_ = std::move(images);
        }
    }
    Images take() {
        if (!images_) throw InputError("no file of images is given; at least one is needed");
        return std::move(*images_);
    }

private:
    std::optional<Images> images_;
};

}  // namespace

Images parse_images(std::span<const std::uint8_t> bytes, std::string_view file, const ReadOptions& options) {
    return adapted(read_as_in_file(bytes, file, options), options, file);
}

std::vector<std::uint32_t> parse_labels(std::span<const std::uint8_t> bytes, std::string_view file) {
    if (bytes.empty()) throw InputError(fmt::format("{}: is empty; it must be an IDX or NPY file", file));
    ByteStream stream(bytes, file);
    if (is_npy(stream)) return read_npy_labels(stream);
    if (is_idx(stream)) return read_idx_labels(stream);
    throw InputError(fmt::format("{}: the first bytes are not those of an IDX or NPY file", file));
}

Images InputReader::read_file(const fs::path& path, const ReadOptions& options) {
    if (const auto known = archives_.find(path); known != archives_.end()) {
        return known->second.images(options, path.string());
    }
    const std::vector<std::uint8_t> bytes = input::read_file(path);
    if (!is_npz(bytes)) return read_as_in_file(bytes, path.string(), options);
    return archives_.try_emplace(path, bytes, path.string()).first->second.images(options, path.string());
}

Images InputReader::read(std::span<const fs::path> paths, const ReadOptions& options) {
    Batch batch;
    for (const fs::path& path : paths) {
        std::error_code ignored;  // a path that cannot be read is opened as a file, which throws the reason
        if (!fs::is_directory(path, ignored)) {
            batch.add(adapted(read_file(path, options), options, path.string()), path);
            continue;
        }
        for (const fs::path& file : files_in(path)) {
            std::optional<Images> picture = read_picture(input::read_file(file), file.string(), options);
            if (!picture) {
                throw InputError(fmt::format("{}: is not a {} file; a directory of images holds nothing else",
                                             file.string(), picture_formats));
            }
            batch.add(adapted(*std::move(picture), options, file.string()), file);
        }
    }
    return batch.take();
}

Images read_images(std::span<const fs::path> paths, const ReadOptions& options) {
    return InputReader().read(paths, options);
}

std::vector<std::string> read_label_names(const fs::path& path) {
    constexpr std::uint64_t most_bytes = std::uint64_t{16} << 20U;
    constexpr std::string_view space = " \t\r";
    const auto text = read_input_file<InputError>(path, most_bytes);
    std::vector<std::string> names;
    std::size_t filled = 0;
    if (is_utf16(text)) {
        throw InputError(fmt::format("{}: it is UTF-16; a file of names is read as UTF-8", path.string()));
    }
    std::string_view rest = without_utf8_mark(text);
    while (!rest.empty()) {
        std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        line.remove_prefix(std::min(line.size(), line.find_first_not_of(space)));
        line = line.substr(0, line.find_last_not_of(space) + 1);
        names.emplace_back(line);
        const bool is_text = std::ranges::none_of(line, [](char c) {
            const auto byte = static_cast<unsigned char>(c);
            return byte < ' ' || byte == 0x7f;
        });
        if (!is_text) {
            throw InputError(
                fmt::format("{}:{}: {} is no name; a file of names is text, a line for each class",
                            path.string(), names.size(), in_quotes(line)));
        }
        if (!line.empty()) filled = names.size();
    }
    names.resize(filled);
    if (names.empty()) throw InputError(fmt::format("{}: it holds no names", path.string()));
    return names;
}

std::vector<std::uint32_t> read_labels(const fs::path& path) {
    return parse_labels(read_file(path), path.string());
}

}  // namespace systole::input
