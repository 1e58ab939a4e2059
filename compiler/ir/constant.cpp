#include "compiler/ir/constant.h"

#include <algorithm>

namespace systole::ir {

bool Constant::operator==(const Constant& other) const {
    if (is_known_ != other.is_known_) return false;
    return data_ == other.data_ || std::ranges::equal(bytes(), other.bytes());
}

}  // namespace systole::ir
