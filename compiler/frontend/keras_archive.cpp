#include "compiler/frontend/keras_archive.h"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "compiler/frontend/keras/build_graph.h"
#include "compiler/frontend/keras/hdf5_file.h"
#include "compiler/frontend/keras/read_twice.h"
#include "compiler/frontend/keras/zip_file.h"
#include "compiler/frontend/text_values.h"
#include "compiler/ir/model_error.h"
#include "hw/base/input_file.h"

namespace systole::frontend {
namespace {

constexpr const char* config_entry = "config.json";
constexpr const char* weights_entry = "model.weights.h5";

/// The version of Keras that wrote the file: Keras 2.12 and later write such files, too.
int major_version_of(const ZipFile& file) {
    constexpr const char* metadata_entry = "metadata.json";
    constexpr std::uint64_t most_metadata_bytes = std::uint64_t{1} << 20U;
    constexpr int first_with_archives = 3;
    if (!file.has(metadata_entry)) return first_with_archives;
    const nlohmann::json metadata =
        parse_json(file.read(metadata_entry, most_metadata_bytes), metadata_entry);
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

ir::Graph read(const ZipFile& file, const ir::OperatorSet& operators) {
    constexpr std::uint64_t most_config_bytes = std::uint64_t{64} << 20U;
    if (!file.has(config_entry) || !file.has(weights_entry)) {
        throw ModelError(
            "it is a zip file without config.json and model.weights.h5, which a .keras file has");
    }
    const std::string config = file.read(config_entry, most_config_bytes);
    const std::string weights = file.read(weights_entry, most_input_bytes);
    const Hdf5File checkpoint{std::string_view(weights)};
    return build_keras_graph(config, CheckpointWeights(checkpoint), operators, major_version_of(file));
}

}  // namespace

ir::Graph read_keras_archive(const std::filesystem::path& path, const ir::OperatorSet& operators) {
    return read_twice(path, [&] { return read(ZipFile(path), operators); });
}

ir::Graph read_keras_archive(std::string_view bytes, const ir::OperatorSet& operators) {
    return read(ZipFile(bytes), operators);
}

}  // namespace systole::frontend
