// Readers with any colour vision can distinguish the classes of cycles, on a light and on a dark page.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { allColours, cycleClasses, cycleParts, fillOf } from '../../sim/view/page/web/src/palette.js';

/// A colour as seen without one kind of cone, in linear RGB: Machado, Oliveira and Fernandes, 2009, severity 1.
const eyes = {
    normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
};

function linear(colour) {
    return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
        .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
}

const times = (matrix, vector) => matrix.map((row) => row.reduce((sum, each, i) => sum + each * vector[i], 0));

/// CIE L*a*b* of a linear RGB colour under D65.
function lab(rgb) {
    const xyz = times([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]],
        rgb.map((value) => Math.min(Math.max(value, 0), 1)));
    const [x, y, z] = [xyz[0] / 0.95047, xyz[1], xyz[2] / 1.08883]
        .map((value) => (value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116));
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

const distance = (a, b) => Math.hypot(...a.map((value, i) => value - b[i]));

for (const [eye, matrix] of Object.entries(eyes)) {
    test(`parts of the cycles differ for ${eye}`, () => {
        for (const scheme of ['light', 'dark']) {
            const seen = cycleParts.map(({ name, colour }) => [name, lab(times(matrix, linear(colour[scheme])))]);
            for (const [first, a] of seen) {
                for (const [second, b] of seen) {
                    const clearlyApart = 20; // in CIE76; two is just noticeable
                    if (first < second) assert.ok(distance(a, b) > clearlyApart,
                        `${scheme}: ${first} and ${second}: ${distance(a, b)}`);
                }
            }
        }
    });
}

test('a class and the part of it have one colour', () => {
    for (const { name, colour } of cycleClasses) {
        const part = cycleParts.find((each) => each.name === name || (name === 'array active' && each.name.includes('useful')));
        assert.equal(part.colour, colour, name);
    }
});

/// WCAG's contrast of two colours.
function contrast(a, b) {
    const [light, dark] = [a, b].map((colour) => times([[0.2126, 0.7152, 0.0722]], linear(colour))[0])
        .sort((x, y) => y - x);
    return (light + 0.05) / (dark + 0.05);
}

const style = readFileSync(new URL('../../sim/view/page/web/src/style.css', import.meta.url), 'utf8');
const themes = [...style.matchAll(/\{[^{}]*--page:[^{}]*\}/g)].map(([block]) => ({
    scheme: block.match(/color-scheme:\s*(\w+)/)[1],
    ...Object.fromEntries([...block.matchAll(/--(\w+):\s*(#[0-9a-f]{6})/g)].map(([, name, colour]) => [name, colour])),
}));

test('bars, or their edges, stand out from their paper in both themes', () => {
    assert.ok(allColours.length > 12);
    for (const theme of themes) {
        for (const colour of allColours) {
            const { color, borderColor = color } = fillOf(colour, theme);
            const seen = 3; // WCAG 2.1, 1.4.11: graphics
            const most = Math.max(...[color, borderColor].map((each) => contrast(each, theme.card)));
            assert.ok(most >= seen, `${color} on ${theme.card}: ${most}`);
        }
    }
});

test('text is readable on its paper in both themes', () => {
    assert.deepEqual(themes.map(({ scheme }) => scheme), ['light', 'dark', 'dark']); // by the system, by the switch
    assert.deepEqual(themes[1], themes[2]);
    for (const theme of themes) {
        for (const ink of ['text', 'quiet', 'accent', 'bad', 'good']) {
            const readable = 4.5; // WCAG 2.1, level AA
            assert.ok(contrast(theme[ink], theme.card) >= readable, `${ink} on ${theme.card}`);
        }
    }
});
