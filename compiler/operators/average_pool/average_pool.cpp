// The average of each window, by channel. Elements outside the image do not count.
#include "compiler/operators/pool.h"

namespace systole::operators {
namespace {

class AveragePool final : public Pool {
public:
    AveragePool() : Pool(PoolKind::Average, "AveragePooling") {}

    std::string_view name() const override { return "average_pool"; }
    std::string_view summary() const override {
        return "The average of each window, by channel. Elements outside the image do not count.";
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_average_pool() {
    return std::make_unique<AveragePool>();
}

}  // namespace systole::operators
