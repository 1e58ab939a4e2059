#include "compiler/frontend/keras_h5.h"

#include "compiler/frontend/keras/build_graph.h"
#include "compiler/frontend/keras/hdf5_file.h"
#include "compiler/frontend/keras/read_twice.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend {

ir::Graph read_keras_h5(const std::filesystem::path& path, const ir::OperatorSet& operators) {
    return read_twice(path, [&] {
        const Hdf5File file(path);
        if (!file.has_attribute("/", "model_config")) {
            throw ModelError("it has no model_config; it must hold the whole model, not weights alone");
        }
        return build_keras_graph(file.text_attribute("/", "model_config"), Hdf5Weights(file), operators);
    });
}

}  // namespace systole::frontend
