#pragma once

#include <tlm>

#include "hw/common/counter.h"

namespace systole::hw {

/// The debug tag that a transaction's work is counted for; a transaction without counts for tag 0. It
/// stays its maker's, who must outlive the payload.
struct TagExtension final : tlm::tlm_extension<TagExtension> {
    explicit TagExtension(Tag of) : tag(of) {}

    tlm::tlm_extension_base* clone() const override { return new TagExtension(*this); }
    void copy_from(const tlm::tlm_extension_base& other) override {
        tag = static_cast<const TagExtension&>(other).tag;
    }
    void free() override {}

    Tag tag;
};

}  // namespace systole::hw
