#include "compiler/frontend/keras_h5.h"

#include <fmt/format.h>

#include <string>

#include "base/message_text.h"
#include "compiler/frontend/keras/build_graph.h"
#include "compiler/frontend/keras/hdf5_file.h"
#include "compiler/frontend/keras/read_twice.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend {

ir::Graph read_keras_h5(const std::filesystem::path& path, const ir::OperatorSet& operators,
                        const InputShapes& shapes) {
    return read_twice(path, [&] {
        const Hdf5File file(path);
        if (!file.has_attribute("/", "model_config")) {
            throw ModelError("it has no model_config; it must hold the whole model, not weights alone");
        }
        // The first versions of Keras 1 do not name themselves.
        constexpr const char* key = "keras_version";
        const std::string version = file.has_attribute("/", key) ? file.text_attribute("/", key) : "1.0";
        const auto major = keras_major_version(version);
        if (!major) {
            throw ModelError(fmt::format("its keras_version is {}; it must be a version like \"2.15.0\"",
                                         in_quotes(version)));
        }
        return build_keras_graph(file.text_attribute("/", "model_config"), Hdf5Weights(file), operators,
                                 *major, shapes);
    });
}

}  // namespace systole::frontend
