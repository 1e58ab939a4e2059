#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace systole::baselines {

/// What a layer asks of any processor, for one inference.
struct NetworkLayer {
    std::uint64_t macs = 0;         ///< multiply-accumulates; 0 for pooling and element-wise work
    std::uint64_t weights = 0;      ///< elements; read once a batch
    std::uint64_t activations = 0;  ///< elements read and written
};

/// A network as processors of any kind see it.
struct Network {
    std::string name;
    std::vector<NetworkLayer> layers;

    std::uint64_t macs() const {
        std::uint64_t sum = 0;
        for (const NetworkLayer& layer : layers) sum += layer.macs;
        return sum;
    }
    std::uint64_t weights() const {
        std::uint64_t sum = 0;
        for (const NetworkLayer& layer : layers) sum += layer.weights;
        return sum;
    }
};

}  // namespace systole::baselines
