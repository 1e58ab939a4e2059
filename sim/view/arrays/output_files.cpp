#include "sim/view/arrays/output_files.h"

#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/whole_file.h"
#include "sim/view/arrays/npy_file.h"

namespace systole::arrays {
namespace {

/// File names have at most 255 bytes, with the ending, a number, and what a file is called while it is
/// written.
constexpr std::size_t most_characters = 150;

/// Writes which file has which output, as JSON.
void write_names(const std::vector<WrittenOutput>& written, const std::filesystem::path& path) {
    nlohmann::ordered_json names = nlohmann::ordered_json::object();
    for (const WrittenOutput& output : written) names[output.file.filename().string()] = output.output;
    WholeFile file(path);
    // A name from a network may be no UTF-8.
    file.write(names.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
    file.commit();
}

std::string contents_text(DataType type, std::span<const std::uint64_t> shape) {
    std::string extents;
    for (const std::uint64_t extent : shape)
        extents += fmt::format("{}{}", extents.empty() ? "" : ", ", extent);
    return fmt::format("{} ({}{})", name_of(type), extents, shape.size() == 1 ? "," : "");
}

}  // namespace

std::string file_name_of(std::string_view output) {
    constexpr std::string_view allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    std::string name(output);
    for (char& c : name) {
        if (allowed.find(c) == std::string_view::npos) c = '_';
    }
    if (name.size() > most_characters) name.resize(most_characters);
    return name.empty() ? "output" : name;
}

std::vector<WrittenOutput> write_outputs(std::span<const run::OutputArray> outputs,
                                         const std::filesystem::path& folder) {
    std::vector<WrittenOutput> written;
    std::set<std::string> names;
    bool is_shortened = false;
    for (const run::OutputArray& output : outputs) {
        const std::string plain = file_name_of(output.name);
        is_shortened |= output.name.size() > most_characters;
        std::string name = plain;
        for (int number = 2; !names.insert(name).second; ++number) name = fmt::format("{}_{}", plain, number);
        const auto write = [&](const std::string& ending, DataType type,
                               std::span<const std::uint8_t> values) {
            std::filesystem::path file = folder / (name + ending);
            write_npy(file, type, output.shape, values);
            written.push_back({output.name, std::move(file), contents_text(type, output.shape)});
        };
        const std::span<const float> values(output.values);
        if (values.empty()) {
            write(".npy", output.type, output.stored);
            continue;
        }
        write(".npy", DataType::Float32,
              {reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()});
        if (!output.stored.empty()) write(".raw.npy", output.type, output.stored);
    }
    if (is_shortened) write_names(written, folder / names_file);
    return written;
}

}  // namespace systole::arrays
