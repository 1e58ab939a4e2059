// The maximum of each window, by channel. Elements outside the image do not count.
#include "compiler/operators/pool.h"

namespace systole::operators {
namespace {

class MaxPool final : public Pool {
public:
    MaxPool() : Pool(PoolKind::Max, "MaxPooling") {}

    std::string_view name() const override { return "max_pool"; }
    std::string_view summary() const override {
        return "The maximum of each window, by channel. Elements outside the image do not count.";
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_max_pool() {
    return std::make_unique<MaxPool>();
}

}  // namespace systole::operators
