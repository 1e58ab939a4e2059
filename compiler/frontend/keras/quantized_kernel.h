#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/frontend/keras/hdf5_file.h"
#include "compiler/frontend/keras/model_config.h"
#include "compiler/frontend/keras/weights.h"

namespace systole::frontend {

/// How Keras has quantized the kernel of a layer: "int8", "int4", ..., from its dtype; "" if it has not.
std::string quantization_mode(const KerasLayer& layer);

/// The name of a variable of the layer in the file, by its role and its number; nullopt if it has none.
using FindVariable = std::function<std::optional<std::string>(std::string_view role, std::size_t number)>;

/// The real numbers of a kernel that Keras has quantized. Throws ModelError for modes that are not supported.
std::vector<float> read_quantized_kernel(const Hdf5File& file, const KerasLayer& layer,
                                         const WantedWeight& wanted, const FindVariable& find);

}  // namespace systole::frontend
