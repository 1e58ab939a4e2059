#include "sim/view/arrays/output_files.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "sim/view/arrays/npy_file.h"

namespace systole::arrays {
namespace {

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
    return name.empty() ? "output" : name;
}

std::vector<WrittenOutput> write_outputs(std::span<const run::OutputArray> outputs,
                                         const std::filesystem::path& folder) {
    std::vector<WrittenOutput> written;
    std::set<std::string> names;
    for (const run::OutputArray& output : outputs) {
        const std::string plain = file_name_of(output.name);
        std::string name = plain;
        for (int number = 2; !names.insert(name).second; ++number) name = fmt::format("{}_{}", plain, number);
        const auto write = [&](const std::string& ending, DataType type,
                               std::span<const std::uint8_t> values) {
            std::filesystem::path file = folder / (name + ending);
            write_npy(file, type, output.shape, values);
            written.push_back({output.name, std::move(file), contents_text(type, output.shape)});
        };
        const std::span<const float> values(output.values);
        write(".npy", DataType::Float32,
              {reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()});
        if (!output.stored.empty()) write(".raw.npy", output.type, output.stored);
    }
    return written;
}

}  // namespace systole::arrays
