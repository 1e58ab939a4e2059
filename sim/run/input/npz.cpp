#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/message_text.h"
#include "base/zip/zip_file.h"
#include "sim/run/input/formats.h"

namespace systole::input {
namespace {

constexpr std::string_view npy_extension = ".npy";
constexpr std::uint64_t most_arrays = 4096;

[[noreturn]] void fail(std::string_view file, std::string_view what) {
    throw InputError(fmt::format("{}: {}", file, what));
}

std::vector<Array> read_arrays(const ZipFile& archive, std::string_view file) {
    std::vector<Array> arrays;
    std::uint64_t read = 0;
    for (const std::string& name : archive.entries(most_arrays)) {
        const std::string entry = fmt::format("{}: entry {}", file, in_quotes(name));
        if (!name.ends_with(npy_extension))
            fail(entry, "its name does not end in .npy, as those of an .npz file do");
        const std::string contents = archive.read(name, {.most_bytes = max_input_bytes - read});
        read += contents.size();
        ByteStream stream({reinterpret_cast<const std::uint8_t*>(contents.data()), contents.size()}, entry);
        Array array = read_npy_array(stream);
        array.name = name.substr(0, name.size() - npy_extension.size());
        arrays.push_back(std::move(array));
    }
    if (arrays.empty()) fail(file, "the zip archive is empty; an .npz file holds arrays");
    return arrays;
}

}  // namespace

std::vector<Array> read_npz(std::span<const std::uint8_t> bytes, std::string_view file) {
    try {
        return read_arrays(ZipFile({reinterpret_cast<const char*>(bytes.data()), bytes.size()}), file);
    } catch (const ZipError& error) {
        fail(file, error.what());
    }
}

NpzArrays::NpzArrays(std::span<const std::uint8_t> bytes, std::string_view file)
    : arrays_(read_npz(bytes, file)) {
    for (std::size_t i = 0; i < arrays_.size(); ++i) places_.emplace(arrays_[i].name, i);
}

Images NpzArrays::images(const ReadOptions& options, std::string_view file) const {
    const auto place = places_.find(options.input);
    if (place == places_.end() && (arrays_.size() > 1 || !options.is_only_input)) {
        std::string names;
        for (const Array& array : arrays_) {
            names += fmt::format("{}{}", names.empty() ? "" : ", ", in_quotes(array.name));
            constexpr std::size_t longest = 400;
            if (names.size() > longest) {
                names += ", ...";
                break;
            }
        }
        fail(file, fmt::format("no array is named {} as the network's input is; there are {}",
                               in_quotes(options.input), names));
    }
    const Array& chosen = arrays_[place == places_.end() ? 0 : place->second];
    return images_of(chosen, options, fmt::format("{}: array {}", file, in_quotes(chosen.name)));
}

}  // namespace systole::input
