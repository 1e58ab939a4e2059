#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/frontend/tflite/tensors.h"

namespace systole::frontend::tflite {

/// A network in a file: a signature, or a subgraph that no signature names and no node calls.
struct Network {
    std::string name;
    std::uint32_t subgraph = 0;
    const SignatureDef* signature = nullptr;  ///< null for a subgraph without
};

/// The network of this name; for the empty name, the only one. Throws ModelError if there is none of this
/// name, or, without a name, if there are several.
Network network_of(const File& file, std::string_view name);

/// The name that a signature gives an input or output; nullptr if it gives none.
const flatbuffers::String* name_in_signature(const flatbuffers::Vector<flatbuffers::Offset<TensorMap>>* names,
                                             std::int32_t tensor);

}  // namespace systole::frontend::tflite
