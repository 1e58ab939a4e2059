#include "sim/study/validate/eight_bit.h"

#include <utility>

namespace systole::validate {

nlohmann::json with_8_bit_activations(nlohmann::json network) {
    constexpr const char* bits = "activation_bits";
    network[bits] = 8;
    for (nlohmann::json& layer : network.at("layers")) {
        if (layer.contains(bits)) layer[bits] = 8;
    }
    return network;
}

}  // namespace systole::validate
