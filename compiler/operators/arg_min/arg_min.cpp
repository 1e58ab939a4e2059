// The index of the smallest element along an axis.
#include "compiler/operators/arg_extreme.h"

namespace systole::operators {
namespace {

class ArgMin final : public ArgExtreme {
public:
    ArgMin() : ArgExtreme(false, "ArgMin", "ARG_MIN") {}

    std::string_view name() const override { return "arg_min"; }
    std::string_view summary() const override { return "The index of the smallest element along an axis."; }
};

}  // namespace

std::unique_ptr<ir::Operator> make_arg_min() {
    return std::make_unique<ArgMin>();
}

}  // namespace systole::operators
