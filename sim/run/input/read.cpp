#include "sim/run/input/read.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "hw/base/input_file.h"
#include "sim/run/input/byte_stream.h"
#include "sim/run/input/formats.h"

namespace systole::input {
namespace {

namespace fs = std::filesystem;

std::vector<std::uint8_t> read_file(const fs::path& path) {
    return read_input_file<InputError, std::vector<std::uint8_t>>(path, max_input_bytes);
}

std::vector<fs::path> png_files(const fs::path& directory) {
    std::error_code error;
    std::vector<fs::path> files;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
        if (!entry->path().filename().string().starts_with('.')) files.push_back(entry->path());
    }
    if (error) throw InputError(fmt::format("{}: {}", directory.string(), error.message()));
    if (files.empty())
        throw InputError(
            fmt::format("{}: the directory is empty; it must hold PNG files", directory.string()));
    std::sort(files.begin(), files.end());
    return files;
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

Images parse_images(std::span<const std::uint8_t> bytes, std::string_view file,
                    std::optional<std::uint64_t> values) {
    if (bytes.empty())
        throw InputError(fmt::format("{}: is empty; it must be an IDX, NPY or PNG file", file));
    if (is_png(bytes)) return read_png(bytes, file);
    ByteStream stream(bytes, file);
    if (is_npy(stream)) return read_npy_images(stream, values);
    if (is_idx(stream)) return read_idx_images(stream);
    throw InputError(fmt::format("{}: the first bytes are not those of an IDX, NPY or PNG file", file));
}

std::vector<std::uint32_t> parse_labels(std::span<const std::uint8_t> bytes, std::string_view file) {
    if (bytes.empty()) throw InputError(fmt::format("{}: is empty; it must be an IDX or NPY file", file));
    ByteStream stream(bytes, file);
    if (is_npy(stream)) return read_npy_labels(stream);
    if (is_idx(stream)) return read_idx_labels(stream);
    throw InputError(fmt::format("{}: the first bytes are not those of an IDX or NPY file", file));
}

Images read_images(std::span<const fs::path> paths, std::optional<std::uint64_t> values) {
    Batch batch;
    for (const fs::path& path : paths) {
        std::error_code ignored;  // a path that cannot be read is opened as a file, which throws the reason
        if (!fs::is_directory(path, ignored)) {
            batch.add(parse_images(read_file(path), path.string(), values), path);
            continue;
        }
        for (const fs::path& file : png_files(path)) {
            const std::vector<std::uint8_t> bytes = read_file(file);
            if (!is_png(bytes)) {
                throw InputError(fmt::format(
                    "{}: is not a PNG file; a directory of images holds nothing else", file.string()));
            }
            batch.add(read_png(bytes, file.string()), file);
        }
    }
    return batch.take();
}

std::vector<std::uint32_t> read_labels(const fs::path& path) {
    return parse_labels(read_file(path), path.string());
}

}  // namespace systole::input
