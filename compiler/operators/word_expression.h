#pragma once

#include "compiler/ir/word_expression.h"

/// The rules of operators write formulas of words without a prefix.
namespace systole::operators {

using ir::apply;
using ir::Word;
using ir::WordOperand;
using ir::WordSteps;

}  // namespace systole::operators
