#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/message_text.h"
#include "base/zip/zip_file.h"
#include "sim/run/input/formats.h"

namespace systole::input {
namespace {

[[noreturn]] void fail(std::string_view file, std::string_view what) {
    throw InputError(fmt::format("{}: {}", file, what));
}

}  // namespace

std::vector<std::string> array_names(const ZipFile& archive, std::string_view file) {
    constexpr std::uint64_t most_arrays = 65536;
    std::vector<std::string> names;
    try {
        names = archive.entries(most_arrays);
    } catch (const ZipError& error) {
        fail(file, error.what());
    }
    if (names.empty()) fail(file, "the zip archive is empty; an .npz file holds arrays");
    for (std::string& name : names) {
        if (!name.ends_with(npy_extension)) {
            fail(file, fmt::format("entry {}: its name does not end in .npy, as those of an .npz file do",
                                   in_quotes(name)));
        }
        name.resize(name.size() - npy_extension.size());
    }
    return names;
}

std::vector<Array> read_npz(std::span<const std::uint8_t> bytes, std::string_view file) {
    std::vector<Array> arrays;
    try {
        const ZipFile archive({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        std::uint64_t read = 0;
        for (std::string& name : array_names(archive, file)) {
            const std::string entry = name + std::string(npy_extension);
            const std::string contents = archive.read(entry, {.most_bytes = max_input_bytes - read});
            read += contents.size();
            ByteStream stream({reinterpret_cast<const std::uint8_t*>(contents.data()), contents.size()},
                              fmt::format("{}: entry {}", file, in_quotes(entry)));
            Array array = read_npy_array(stream);
            array.name = std::move(name);
            arrays.push_back(std::move(array));
        }
    } catch (const ZipError& error) {
        fail(file, error.what());
    }
    return arrays;
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
