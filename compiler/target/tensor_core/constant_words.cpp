#include "compiler/target/tensor_core/constant_words.h"

#include "hw/math/floats/word_values.h"

namespace systole::tensor_core {

std::vector<std::uint32_t> words_of(const ir::Value& constant) {
    if (!constant.constant->is_known()) return {};
    std::vector<std::uint32_t> words(constant.shape.elements());
    math::to_words(constant.constant->bytes().data(), constant.type, words);
    return words;
}

}  // namespace systole::tensor_core
