// The index of the largest element along an axis.
#include "compiler/operators/arg_extreme.h"

namespace systole::operators {
namespace {

class ArgMax final : public ArgExtreme {
public:
    ArgMax() : ArgExtreme(true, "ArgMax", "ARG_MAX") {}

    std::string_view name() const override { return "arg_max"; }
    std::string_view summary() const override { return "The index of the largest element along an axis."; }
};

}  // namespace

std::unique_ptr<ir::Operator> make_arg_max() {
    return std::make_unique<ArgMax>();
}

}  // namespace systole::operators
