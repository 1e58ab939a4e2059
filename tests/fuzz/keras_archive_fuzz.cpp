#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/user_error.h"
#include "base/zip/zip_file.h"
#include "compiler/frontend/keras/build_graph.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"

namespace {

/// Weights of whatever shape is asked for, as long as they are few.
class FewWeights final : public systole::frontend::WeightSource {
public:
    std::vector<float> read(const systole::frontend::KerasLayer& /*layer*/,
                            const systole::frontend::WantedWeight& wanted) const override {
        constexpr std::uint64_t most = 1 << 12;
        std::uint64_t elements = 1;
        for (const std::uint64_t extent : wanted.shape) {
            if (extent > most || (elements *= extent) > most) throw systole::ModelError("too many weights");
        }
        return std::vector<float>(elements, 0.5F);
    }
};

}  // namespace

/// Any bytes, as a .keras file. Its HDF5 file is only unpacked: the library that reads it crashes on some
/// damaged ones, which is why a process of its own reads them first.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    constexpr systole::ZipLimits limits{.most_bytes = 1 << 20};
    try {
        const systole::ZipFile file(bytes);
        if (file.read("model.weights.h5", limits).size() > limits.most_bytes) __builtin_trap();
        systole::frontend::build_keras_graph(file.read("config.json", limits), FewWeights(),
                                             systole::operators::registry());
    } catch (const systole::UserError& error) {
        if (std::string_view(error.what()).find('\n') != std::string_view::npos) __builtin_trap();
    }
    return 0;
}
