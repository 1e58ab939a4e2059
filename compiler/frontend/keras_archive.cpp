#include "compiler/frontend/keras_archive.h"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/input_file.h"
#include "base/zip/zip_file.h"
#include "compiler/frontend/keras/build_graph.h"
#include "compiler/frontend/keras/hdf5_file.h"
#include "compiler/frontend/keras/read_twice.h"
#include "compiler/frontend/text_values.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend {
namespace {

constexpr const char* config_entry = "config.json";
constexpr const char* weights_entry = "model.weights.h5";

/// Ten times what the text of a model is packed to, and a hundred times what weights are.
constexpr std::uint64_t most_expansion = 200;

/// The name in the file of an entry of the archive's own folder, which some writers name: "./config.json",
/// or, on Windows, ".\\config.json". nullopt if there is none.
std::optional<std::string> name_of(const ZipFile& file, const std::string& entry) {
    if (file.has(entry)) return entry;
    for (const char* const folder : {"./", ".\\"}) {
        if (file.has(folder + entry)) return folder + entry;
    }
    return std::nullopt;
}

/// The version of Keras that wrote the file: Keras 2.12 and later write such files, too.
int major_version_of(const ZipFile& file) {
    constexpr const char* metadata_entry = "metadata.json";
    constexpr std::uint64_t most_metadata_bytes = std::uint64_t{1} << 20U;
    constexpr int first_with_archives = 3;
    const auto name = name_of(file, metadata_entry);
    if (!name) return first_with_archives;
    const nlohmann::json metadata =
        parse_json(file.read(*name, {most_metadata_bytes, most_expansion}), metadata_entry);
    const nlohmann::json version =
        metadata.is_object() ? metadata.value("keras_version", nlohmann::json()) : nlohmann::json();
    const auto major =
        version.is_string() ? keras_major_version(version.get_ref<const std::string&>()) : std::nullopt;
    if (!major) {
        throw ModelError(fmt::format("{}: keras_version is {}; it must be a version like \"3.0.0\"",
                                     metadata_entry, describe(version)));
    }
    return *major;
}

ir::Graph read(const ZipFile& file, const ir::OperatorSet& operators, const InputShapes& shapes) {
    constexpr std::uint64_t most_config_bytes = std::uint64_t{64} << 20U;
    const auto config_name = name_of(file, config_entry);
    const auto weights_name = name_of(file, weights_entry);
    if (!config_name || !weights_name) {
        throw ModelError(
            "it is a zip file without config.json and model.weights.h5, which a .keras file has");
    }
    const std::string config = file.read(*config_name, {most_config_bytes, most_expansion});
    const std::string weights = file.read(*weights_name, {most_input_bytes, most_expansion});
    const Hdf5File checkpoint{std::string_view(weights)};
    return build_keras_graph(config, CheckpointWeights(checkpoint), operators, major_version_of(file),
                             shapes);
}

/// `source` is a path or the bytes of the file.
template <typename Source>
ir::Graph read_from(const Source& source, const ir::OperatorSet& operators, const InputShapes& shapes) {
    try {
        return read(ZipFile(source), operators, shapes);
    } catch (const ZipError& error) {
        throw ModelError(error.what());
    }
}

}  // namespace

ir::Graph read_keras_archive(const std::filesystem::path& path, const ir::OperatorSet& operators,
                             const InputShapes& shapes) {
    return read_twice(path, [&] { return read_from(path, operators, shapes); });
}

ir::Graph read_keras_archive(std::string_view bytes, const ir::OperatorSet& operators,
                             const InputShapes& shapes) {
    return read_from(bytes, operators, shapes);
}

}  // namespace systole::frontend
