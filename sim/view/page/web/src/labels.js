// Where the labels of points in a chart go, so that none lies on another one or on a point.

const height = 16;
const gap = 5;

/// Whether two boxes of [left, top, right, bottom] have a common part.
const overlap = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

/// The boxes that a label of this width may have beside its point, by the name of the place, the best first.
function boxesOf({ x, y, radius }, width) {
    const off = radius + gap;
    const half = height / 2;
    return [
        ['right', [x + off, y - half, x + off + width, y + half]],
        ['left', [x - off - width, y - half, x - off, y + half]],
        ['top', [x - width / 2, y - off - height, x + width / 2, y - off]],
        ['bottom', [x - width / 2, y + off, x + width / 2, y + off + height]],
    ];
}

/// For each of `points` ({x, y, radius, text}, in pixels), the place of its label inside the box `room`, or null where
/// none is free or the text is empty. The first points choose first; `others` have no label and keep theirs free.
export function placeLabels(points, others, room, widthOf) {
    const marks = [...points, ...others].map(({ x, y, radius }) => [x - radius, y - radius, x + radius, y + radius]);
    const taken = [];
    return points.map((point, index) => {
        if (point.text === '') return null;
        const isFree = (box) => box[0] >= room[0] && box[1] >= room[1] && box[2] <= room[2] && box[3] <= room[3]
            && taken.every((other) => !overlap(box, other))
            && marks.every((mark, owner) => owner === index || !overlap(box, mark));
        const found = boxesOf(point, widthOf(point.text)).find(([, box]) => isFree(box));
        if (!found) return null;
        taken.push(found[1]);
        return found[0];
    });
}
