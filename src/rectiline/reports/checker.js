"use strict";
/* A checker of certificate files, written from docs/theory/certificate_files.rst. It contains no solver. Every number
   that is computed is a triple [high, low, error]: a sum of two doubles and a bound on its distance from the true value,
   which every operation carries on. What is not proved is refused. */
(function () {
  class Refused extends Error {} class CannotCheck extends Error {}
  const refuse = (why) => { throw new Refused(why); }, stop = (why) => { throw new CannotCheck(why); };
  // ---- numbers: pairs of doubles with a bound on the error -------------------------------------
  const RELATIVE = 2 ** -100, ABSOLUTE = 2 ** -1060; // of one operation on pairs, generously; of a product that underflows
  const exact = (x) => [x, 0, 0], ZERO = exact(0), INFINITE = exact(Infinity);
  function twoSum(a, b) { const s = a + b, t = s - a; return [s, a - (s - t) + (b - t)]; }
  function twoProduct(a, b) {
    const p = a * b, c = 134217729 * a, d = 134217729 * b;
    const ah = c - (c - a), al = a - ah, bh = d - (d - b), bl = b - bh;
    return [p, al * bl - (p - ah * bh - al * bh - ah * bl)];
  }
  function add(x, y) {
    const s = twoSum(x[0], y[0]), t = twoSum(x[1], y[1]);
    const c = s[1] + t[0], v = s[0] + c, w = t[1] + (c - (v - s[0])), high = v + w;
    return [high, w - (high - v), x[2] + y[2] + RELATIVE * Math.abs(high)];
  }
  function times(x, y) {
    const p = twoProduct(x[0], y[0]), low = p[1] + (x[0] * y[1] + x[1] * y[0]), high = p[0] + low;
    const ax = Math.abs(x[0]), ay = Math.abs(y[0]);
    const error = 1.001 * (ax * y[2] + ay * x[2] + x[2] * y[2]) + RELATIVE * Math.abs(high) + ABSOLUTE;
    return [high, low - (high - p[0]), error];
  }
  const negative = (x) => [-x[0], -x[1], x[2]], minus = (x, y) => add(x, negative(y));
  const size = (x) => (x[0] < 0 ? negative(x) : x); // a bound on the absolute value
  const half = (x) => [x[0] / 2, x[1] / 2, x[2] / 2 + ABSOLUTE], slack = (x) => 1.001 * x[2] + 2 ** -51 * Math.abs(x[1]) + 2 ** -1070;
  // The sign of a pair is that of its high part plus the low one, which double precision decides.
  const upper = (x) => { const v = x[0] + x[1]; return v + slack(x) + 2 ** -51 * Math.abs(v); };
  const isPositive = (x) => x[0] + (x[1] - slack(x)) > 0, isNegative = (x) => x[0] + (x[1] + slack(x)) < 0;
  const isZero = (x) => x.every((part) => part === 0);
  const mayRise = (x) => !isZero(x) && !isNegative(x), mayFall = (x) => !isZero(x) && !isPositive(x); // as far as is proved
  function larger(x, y) { // a bound on both
    if (x === null || !Number.isFinite(y[0])) return y;
    if (!Number.isFinite(x[0])) return x;
    const [high, low] = minus(y, x)[0] > 0 ? y : x;
    return [high, low, Math.max(x[2], y[2])];
  }
  function squareOver(x, divisor) { // at least x^2 / divisor, for a positive divisor
    const above = times(x, x), q = above[0] / divisor;
    if (!Number.isFinite(q)) return INFINITE;
    const left = minus(above, times(exact(q), exact(divisor))), more = (left[0] + left[1]) / divisor;
    const error = (1.001 * left[2] + ABSOLUTE) / divisor + 2 ** -50 * Math.abs(more) + ABSOLUTE;
    return [...twoSum(q, more), error + RELATIVE * Math.abs(q)];
  }
  // ---- pieces: value + e (slope + bend e / 2), e = t - at --------------------------------------
  function pieceAt([at, value, slope, bend], t) {
    const e = minus(t, exact(at));
    return add(exact(value), times(e, add(exact(slope), half(times(exact(bend), e)))));
  }
  // At least the supremum of s t - piece(t) over low <= t <= high.
  function supremum(s, piece, low, high) {
    const [at, value, slope, bend] = piece;
    const rise = minus(s, exact(slope)); // the derivative at `at`
    const there = (t) => minus(times(s, exact(t)), pieceAt(piece, exact(t)));
    if (bend === 0) {
      if ((high === Infinity && mayRise(rise)) || (low === -Infinity && mayFall(rise))) { return INFINITE; }
      const ends = [low, high].filter(Number.isFinite).map(there);
      return ends.length ? ends.reduce(larger, null) : minus(times(s, exact(at)), exact(value));
    }
    const derivative = (t) => minus(rise, times(exact(bend), minus(exact(t), exact(at))));
    if (high < Infinity && isPositive(derivative(high))) return there(high);
    if (low > -Infinity && isNegative(derivative(low))) return there(low);
    return add(minus(times(s, exact(at)), exact(value)), half(squareOver(rise, bend)));
  }
  class Loss {
    constructor(knots, pieces) {
      const first = pieces[0], last = pieces[pieces.length - 1];
      const least = first[3] > 0 ? -Infinity : first[2], most = last[3] > 0 ? Infinity : last[2];
      Object.assign(this, { knots, pieces, least, most });
      knots.forEach((knot, k) => {
        if (k && knot <= knots[k - 1]) refuse("the knots of a loss do not increase");
        const [left, right] = [pieces[k], pieces[k + 1]].map((piece) => {
          const [at, value, slope, bend] = piece, e = Math.abs(knot) + Math.abs(at), steep = Math.abs(slope) + bend * e;
          return { here: pieceAt(piece, exact(knot)), rise: slope + bend * (knot - at), steep, size: Math.abs(value) + e * steep };
        });
        const jump = Math.abs(minus(left.here, right.here)[0]);
        if (!(jump <= 2 ** -40 * (left.size + right.size))) refuse("a loss jumps");
        if (!(left.rise - right.rise <= 2 ** -40 * (left.steep + right.steep))) refuse("a loss is not convex");
      });
      this.drop = least <= 0 && most >= 0 ? this.conjugate(0) : null; // how far below zero it goes: all but a linear term end
    }
    value(t) { // at least the value at t, whichever side of a knot t is on
      const passed = this.knots.filter((knot) => isPositive(minus(t, exact(knot)))).length;
      const reached = this.knots.filter((knot) => !isNegative(minus(t, exact(knot)))).length;
      return this.pieces.slice(passed, reached + 1).map((piece) => pieceAt(piece, t)).reduce(larger, null);
    }
    slope(t) { // right derivative, rounded: any number in the range will do
      const passed = this.knots.filter((knot) => knot < t[0] || (knot === t[0] && t[1] >= 0)).length;
      const [at, , slope, bend] = this.pieces[passed], s = add(exact(slope), times(exact(bend), minus(t, exact(at))));
      return Math.min(Math.max(s[0] + s[1], this.least), this.most);
    }
    conjugate(s) { // at least the supremum over all t, over every piece
      if (!(s >= this.least && s <= this.most)) refuse("a slope is outside the range of its loss");
      const over = (piece, k) => supremum(exact(s), piece, this.knots[k - 1] ?? -Infinity, this.knots[k] ?? Infinity);
      return this.pieces.map(over).reduce(larger, null);
    }
  }
  // ---- archives and arrays ----------------------------------------------------------------------
  const CRC = Uint32Array.from({ length: 256 }, (_, k) => [...Array(8)].reduce((c) => (c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1), k));
  const crc32 = (bytes) => (bytes.reduce((c, byte) => CRC[(c ^ byte) & 255] ^ (c >>> 8), -1) ^ -1) >>> 0;
  const view = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = (bytes) => new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  async function unzip(bytes) { // a Map of the members' names to their bytes
    const at = view(bytes), members = new Map();
    let end = bytes.length - 22;
    while (end >= 0 && at.getUint32(end, true) !== 0x06054b50) end -= 1;
    const count = end < 0 ? refuse("this is no archive") : at.getUint16(end + 10, true), first = at.getUint32(end + 16, true);
    let p = first, total = 0;
    for (let k = 0; k < count; k++) { // the directory
      const [flags, method, letters, extra, comment] = [8, 10, 28, 30, 32].map((j) => at.getUint16(p + j, true));
      const [crc, packed, full, start] = [16, 20, 24, 42].map((j) => at.getUint32(p + j, true));
      const from = start + 30 + at.getUint16(start + 26, true) + at.getUint16(start + 28, true);
      const name = text(bytes.subarray(p + 46, p + 46 + letters)), local = text(bytes.subarray(start + 30, start + 30 + at.getUint16(start + 26, true)));
      const isSound = local === name && at.getUint32(p, true) === 0x02014b50 && at.getUint32(start, true) === 0x04034b50;
      if (!isSound || from + packed > bytes.length || members.has(name)) refuse("the archive is damaged");
      if (flags & 1 || (method !== 0 && method !== 8)) refuse("the archive is packed in a way that is not read");
      if ((total += full) > 2 ** 28 && total > 100 * bytes.length) refuse(`the archive unpacks to ${total} bytes or more`);
      const raw = bytes.subarray(from, from + packed), member = method ? await inflate(raw, full) : raw;
      if (member.length !== full || crc32(member) !== crc) refuse(`${name} is damaged`);
      members.set(name, member);
      p += 46 + letters + extra + comment;
    }
    return p === end && at.getUint32(end + 12, true) === end - first ? members : refuse("the archive is damaged");
  }
  async function inflate(raw, length) {
    const out = new Uint8Array(length);
    const reader = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
    for (let at = 0, done, value; ; at += value.length) {
      ({ done, value } = await reader.read());
      if (done) return out.subarray(0, at);
      if (at + value.length > length) { reader.cancel().catch(() => {}); refuse("a member unpacks to more than it declares"); }
      out.set(value, at);
    }
  }
  const READ = { f8: "Float64", f4: "Float32", i8: "BigInt64", u8: "BigUint64", i4: "Int32", u4: "Uint32", i2: "Int16", u2: "Uint16",
    i1: "Int8", u1: "Uint8", b1: "Uint8" };
  function parseArray(bytes, name) { // NumPy's format: {shape, type, values}, rows one after another
    const at = view(bytes), begin = 10;
    if (bytes.length < begin || text(bytes.subarray(1, 6)) !== "NUMPY" || bytes[6] !== 1) refuse(`${name} is no array`);
    const length = at.getUint16(8, true);
    const found = /^\{'descr': '([<>|=])(\w)(\d{1,4})', 'fortran_order': (True|False), 'shape': \(([\d, ]*)\), \}\s*$/.exec(text(bytes.subarray(begin, begin + length)));
    if (!found) refuse(`${name} is an array of no known kind`);
    const [, order, letter, digits, fortran, sizes] = found;
    const shape = sizes.split(",").map((one) => one.trim()).filter(Boolean).map(Number);
    const count = shape.reduce((a, b) => a * b, 1), width = Number(digits) * (letter === "U" ? 4 : 1);
    if (!width || begin + length + count * width !== bytes.length) refuse(`${name} is cut off, or too long`);
    const little = order !== ">", method = `get${READ[letter + digits]}`;
    if (letter !== "U" && !Object.hasOwn(READ, letter + digits)) refuse(`${name} is an array of no known kind`);
    const codes = (p) => Array.from({ length: width / 4 }, (_, k) => at.getUint32(p + 4 * k, little));
    const word = (p) => String.fromCodePoint(...codes(p)).replace(/\0+$/, "");
    const one = (p) => (letter === "U" ? word(p) : letter === "b" ? at[method](p) !== 0 : Number(at[method](p, little)));
    const values = letter === "f" ? new Float64Array(count) : new Array(count), [rows, columns] = shape.length === 2 ? shape : [1, count];
    const place = (k) => (fortran === "True" ? (k % columns) * rows + Math.floor(k / columns) : k);
    for (let k = 0; k < count; k++) values[k] = one(begin + length + place(k) * width);
    return { shape, type: letter, width, values };
  }
  // ---- the file: one schema for header and arrays -----------------------------------------------
  function double(word, what) { // a C99 hexadecimal number that is a finite double
    const found = typeof word === "string" && /^([+-]?)0x([0-9a-f]{1,20})(?:\.([0-9a-f]{0,20}))?p([+-]?\d{1,5})$/i.exec(word);
    if (!found) refuse(`${what} is no finite hexadecimal number`);
    const tail = found[3] || "";
    let digits = BigInt(`0x${found[2]}${tail}`), power = Number(found[4]) - 4 * tail.length;
    if (digits === 0n) return 0;
    for (; digits % 2n === 0n; power += 1) digits /= 2n;
    const value = Number(digits) * 2 ** Math.max(power, -1000) * 2 ** Math.min(power + 1000, 0);
    if (digits >= 2n ** 53n || power < -1074 || !Number.isFinite(value)) refuse(`${what} is no finite double`);
    return found[1] === "-" ? -value : value;
  }
  const LIMITS = { c: "m", f: "k", A: "md", E: "kd", lower: "d", upper: "d" }, MULTIPLIERS = { inequality: "m", equality: "k" };
  const COSTS = { coef: "d", rho: "d", l1: "d", strengths: "d", groups: "d", encoding: "l3", copies: "c2", columns: "cx" };
  const SLOPES = { split_coef: "d", slopes: "s", slope_rows: "s" }, OPTIONAL = { weight: "nc", loss_index: "n" }, TASKS = { tasks: "gt", shared: "4", shares: "t", turns: "2tt" };
  const KINDS = { infeasible: { ...LIMITS, ...MULTIPLIERS }, unbounded: { ...LIMITS, ...COSTS, direction: "d" },
    optimality: { ...LIMITS, ...MULTIPLIERS, ...COSTS, ...SLOPES } };
  const WHOLE = ["groups", "copies", "columns", "slope_rows", "loss_index", "tasks"], SIGNED = ["inequality", "rho", "l1", "strengths", "weight", "slope_rows", "loss_index", "tasks", "shared", "shares"];
  const isObject = (x) => x !== null && typeof x === "object" && !Array.isArray(x);
  async function parseFile(bytes) { // the header, and every problem with its arrays
    const members = await unzip(bytes), folders = new Map();
    const given = JSON.parse(text(members.get("header.json") ?? refuse("the archive has no header.json")));
    if (!isObject(given) || given.format !== "rectiline-certificate" || ![1, 2].includes(given.version)) refuse("this is no certificate of format 1 or 2");
    const { columns = [], targets: named = [], source = "" } = given, isText = (all) => all === null || (Array.isArray(all) && all.every((one) => typeof one === "string"));
    if (![columns, named, source === null ? null : [source]].every(isText)) refuse("a name is no text");
    for (const [member, content] of members) {
      if (member === "header.json") continue;
      const [folder, name] = given.version === 1 ? ["0", member] : member.split(/\/(.*)/s);
      if (!name?.endsWith(".npy")) refuse("a member is no array");
      folders.set(folder, { ...folders.get(folder), [name.slice(0, -4)]: parseArray(content, member) });
    }
    const header = given.version === 1 ? upgraded(given, folders.get("0") || {}) : given, { problems } = header;
    if (!Array.isArray(problems) || !problems.length || !problems.every(isObject)) refuse("the problems are not stated as the format asks");
    if (folders.size !== problems.length || !problems.every((_, k) => folders.has(String(k)))) refuse("a problem has no arrays, or an array no problem");
    return { header, problems: problems.map((one, k) => parseProblem(header, one, folders.get(String(k)))) };
  }
  function upgraded(header, arrays) { // what a file of format 1 states, which has one problem, in the terms of format 2
    if (!Array.isArray(header.arrays) || header.arrays.join("\n") !== Object.keys(arrays).sort().join("\n")) refuse("the arrays are not those that the header lists");
    const { kind, labels, of, fit_intercept: free } = header;
    if (kind === "infeasible") return { ...header, problems: [header] };
    const sign = { residual: [-1], margin: [-1, 1], prediction: [1] }[of];
    if (kind !== "optimality" || !Array.isArray(labels) || labels.length !== 2 || typeof free !== "boolean" || !sign) refuse("this is no certificate of format 1");
    const scale = double(header.weight_scale, "weight_scale"), table = (type, rows) => ({ type, width: 8, shape: [rows.length, rows[0].length], values: rows.flat() });
    const d = arrays.coef.shape[0] - Number(free);
    arrays.encoding = table("f", sign.map((p) => [p, 0, scale]));
    arrays.copies = table("i", [[arrays.loss_index ? -1 : 0, of === "prediction" ? -1 : 0]]);
    arrays.columns = table("i", [[...Array.from({ length: d }, (_, j) => j), free ? d : -1]]);
    if (arrays.weight) arrays.weight = { ...arrays.weight, shape: [...arrays.weight.shape, 1] };
    return { ...header, labels: of === "margin" ? labels : null, problems: [{ ...header, weights: arrays.weight ? "file" : "data" }] };
  }
  function parseProblem(header, stated, given) {
    if (!Object.hasOwn(KINDS, stated.kind)) refuse("the kind of the certificate is not known");
    const isInfeasible = stated.kind === "infeasible", dims = { ...KINDS[stated.kind], ...(!isInfeasible && given.tasks ? TASKS : {}) }, allowed = { ...dims, ...(isInfeasible ? {} : OPTIONAL) };
    const arrays = {}, sizes = { n: header.n_samples, 2: 2, 3: 3, 4: 4 };
    for (const name of Object.keys(dims)) if (!Object.hasOwn(given, name)) refuse(`there is no array ${name}`);
    for (const [name, array] of Object.entries(given)) {
      if (!Object.hasOwn(allowed, name)) refuse(`the array ${name} is not known`);
      const letters = [...allowed[name]], fits = letters.length === array.shape.length && letters.every((one, k) => (sizes[one] ??= array.shape[k]) === array.shape[k]);
      if (!fits) refuse(`${name} has the wrong shape (${array.shape})`);
      if (WHOLE.includes(name) ? !"iu".includes(array.type) : array.type + array.width !== "f8") refuse(`${name} holds numbers of another kind`);
      const infinite = { lower: -Infinity, upper: Infinity }[name], least = SIGNED.includes(name) ? 0 : WHOLE.includes(name) ? -1 : -Infinity;
      const isRight = (x) => (WHOLE.includes(name) ? Number.isSafeInteger(x) : Number.isFinite(x)) && x >= least;
      if (!array.values.every((x) => isRight(x) || x === infinite)) refuse(`${name} holds numbers that it may not`);
      arrays[name] = array.values;
    }
    if (arrays.lower.some((x, j) => x > arrays.upper[j])) refuse("a lower bound is above its upper bound");
    return isInfeasible ? { arrays } : parseTerms({ header, stated, arrays, n: sizes.n, d: sizes.d, count: sizes.c, features: sizes.x - 1 }, stated, arrays);
  }
  function parseTerms(file, stated, arrays) {
    const { n, d, count, features, header: { labels, checksums, version } } = file, { losses, claim } = stated, many = Array.isArray(losses) ? losses.length : 0;
    if (!Number.isSafeInteger(n) || n < 1) refuse("n_samples is no number of rows");
    if (!["file", "data"].includes(stated.weights)) refuse("whose weights count is not stated");
    const isLabel = (one, _, [first]) => typeof one === typeof first && (typeof one === "number" ? Math.abs(one) < 2 ** 53 : ["string", "boolean"].includes(typeof one)); // so that tables tell them apart
    if (labels !== null && !(Array.isArray(labels) && labels.every(isLabel) && new Set(labels).size === labels.length)) refuse("the labels are odd");
    const rows = (name, width) => Array.from({ length: arrays[name].length / width }, (_, k) => Array.from(arrays[name].slice(k * width, (k + 1) * width)));
    Object.assign(file, { copies: rows("copies", 2), columns: rows("columns", features + 1), encoding: rows("encoding", 3) });
    const isRule = ([p, o, w]) => Math.abs(p) === 1 && w >= 0 && (labels === null ? o === 0 : file.copies.every(([, target]) => target >= 0));
    if (file.encoding.length !== (labels === null ? 1 : labels.length) || !file.encoding.every(isRule)) refuse("the encoding is odd");
    const index = arrays.loss_index, named = file.copies.map(([loss]) => loss), used = new Set([...named.filter((one) => one >= 0), ...(index || [])]);
    if (!(many > 0 && many <= 256) || [...used].some((one) => one >= many)) refuse("there is no such loss");
    if (named.includes(-1) ? !index : used.size < many) refuse("a loss has no rows");
    const isPlace = (all) => new Set(all.filter((j) => j >= 0)).size === all.filter((j) => j >= 0).length && all.every((j, k) => j < d && (j >= 0 || k === features));
    if (features < 0 || !count || !file.columns.every(isPlace)) refuse("the columns are not those of the data");
    const numbers = (all) => (Array.isArray(all) ? all.map((x) => double(x, "a number of a loss")) : refuse("a loss has no numbers"));
    file.losses = losses.map((one) => {
      const knots = numbers(one?.knots), pieces = Array.isArray(one.pieces) ? one.pieces.map(numbers) : [];
      if (pieces.length !== knots.length + 1) refuse("a loss has too many pieces or too few");
      if (pieces.some((piece) => piece.length !== 4 || piece[3] < 0)) refuse("a piece of a loss is not convex");
      return new Loss(knots, pieces);
    });
    file.radius = version === 1 ? 100 : 1024;
    if (!isObject(claim)) refuse("there is no claim");
    if (stated.kind === "unbounded") { // looked at far along the direction
      if (arrays.direction.some((x, j) => (x > 0 ? arrays.upper[j] < Infinity : x < 0 && arrays.lower[j] > -Infinity))) refuse("a bound ends the direction");
      const most = (all) => all.reduce((a, x) => Math.max(a, Math.abs(x)), 0), far = 2 ** 30 * Math.max(1, most(arrays.coef)) / Math.max(most(arrays.direction), 2 ** -1000);
      const coef = arrays.coef.map((x, j) => x + far * arrays.direction[j]), none = { slopes: [], slope_rows: [] };
      Object.assign(arrays, none, { coef, split_coef: coef, inequality: arrays.c.map(() => 0), equality: arrays.f.map(() => 0) });
    } else file.claim = { objective: double(claim.objective, "the objective"), gap: double(claim.gap, "the gap") };
    file.rowsPerSum = Math.max(1, Math.floor(2 ** 21 / Math.max(1, features)));
    if (!Array.isArray(checksums) || checksums.length !== Math.ceil(n / file.rowsPerSum)) refuse("there are not as many checksums as blocks of rows");
    const { slope_rows: listed, groups } = arrays;
    if (listed.some((row, k) => row >= n * count || (k && row <= listed[k - 1]))) refuse("slope_rows are no increasing numbers of rows");
    file.groups = new Map();
    groups.forEach((group, j) => { if (group >= 0) file.groups.set(group, [...(file.groups.get(group) || []), j]); });
    const grows = (members) => members.some((j, k) => k && arrays.strengths[j] > arrays.strengths[members[k - 1]]);
    if ([...file.groups.values()].some(grows)) refuse("the strengths of a group increase");
    if (arrays.tasks) {
      const { tasks, shares, shared: [c, eta, h, centred], lower, upper, rho, l1 } = arrays, total = shares.reduce((sum, one) => sum + whole(one), 0n);
      const isPlain = (j) => j < d && lower[j] === -Infinity && upper[j] === Infinity && groups[j] < 0 && rho[j] === 0 && l1[j] === 0;
      const isRight = c > 0 && eta > 0 && h > 0 && Number.isSafeInteger(h) && [0, 1].includes(centred) && !shares.some((one) => one > 1) && total <= whole(h);
      if (!isRight || new Set(tasks).size !== tasks.length || !tasks.every(isPlain)) refuse("the penalty of tasks is odd");
    }
    if (arrays.coef.some((b, j) => !(b >= arrays.lower[j] && b <= arrays.upper[j]))) refuse("a coefficient is outside its bounds");
    return file;
  }
  function targets({ labels }, proofs, { y, rows }) { // numbers or places of labels, row by row
    const width = y.length / rows, count = 1 + Math.max(...proofs.flatMap((one) => one.copies.map((copy) => copy[1])));
    if (width < count) refuse(`the data have ${width} targets, the certificate is about ${count}`);
    if (labels === null && count === 0) return { values: new Float64Array(0), width: 0 };
    const is = (one, label) => one === label || (typeof label === "boolean" && (Number(label) === one || String(label) === String(one).toLowerCase())) ||
      (typeof one === "boolean" && label === Number(one)) || (typeof one === "string" && typeof label === "number" && one.trim() !== "" && Number(one) === label);
    const number = (one) => (Number.isFinite(one) ? one + 0 : stop("y must hold finite numbers"));
    const place = (one) => { const k = labels.findIndex((label) => is(one, label)); return k < 0 ? refuse("the data have labels other than those of the certificate") : k; };
    return { values: Float64Array.from(y, labels === null ? number : place), width };
  }
  function encoded({ encoding, copies, header }, { values, width }, i, copy) { // p, o and a factor on the weight of row i
    const target = copies[copy][1], value = target < 0 ? 0 : values[i * width + target];
    if (header.labels !== null) return encoding[value];
    return [encoding[0][0], value === 0 ? 0 : value, encoding[0][2]];
  }
  async function compare(header, proofs, data, given) { // the data must be those of the checksums
    const { n_samples: n, checksums } = header, [first] = proofs, { features, rowsPerSum } = first, X = data.X;
    if (proofs.some((one) => one.features !== data.columns)) refuse(`the data have ${data.columns} columns, the certificate is about ${features}`);
    if (data.rows !== n) refuse(`the data have ${data.rows} rows, the certificate is about ${n}`);
    if (!X.every(Number.isFinite)) stop("X must hold finite numbers");
    if (!globalThis.crypto?.subtle) stop("the browser computes no checksums on this page, which must be a file or come over a secure connection");
    const part = (all, row, width) => all.slice(row * width, (row + 1) * width);
    const more = (row) => (header.version === 1 ? encoded(first, given, row, 0).slice(0, 2) : part(given.values, row, given.width));
    const wide = features + more(0).length;
    for (let start = 0; start < n; start += rowsPerSum) {
      const rows = Math.min(rowsPerSum, n - start), bytes = new Uint8Array(8 * wide * rows), put = view(bytes);
      for (let i = 0; i < rows; i++) {
        const numbers = [...part(X, start + i, features), ...more(start + i)];
        numbers.forEach((x, j) => put.setFloat64(8 * (i * wide + j), x === 0 ? 0 : x, true));
      }
      const digits = Array.from(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)), (byte) => byte.toString(16).padStart(2, "0")).join("");
      if (digits !== checksums[start / rowsPerSum]) refuse("the data are not those of the certificate");
    }
  }
  function checkWeights({ header, stated, arrays, n, count }, given) { // the weights of rows, copy by copy
    const mine = arrays.weight || Array(n * count).fill(1);
    if (!given) return mine;
    if (given.length !== n || !given.every((one) => Number.isFinite(one) && one >= 0)) stop("weights must be one for each row, finite and not negative");
    if (stated.weights === "data") return mine.map((one, k) => one * given[Math.floor(k / count)]);
    for (let copy = 0; copy < count; copy++) { // rows that the file leaves out have no weight there
      const own = (i) => mine[i * count + copy], both = given.findIndex((one, i) => one > 0 && own(i) > 0);
      const ratio = both < 0 ? 0 : own(both) / given[both];
      const isSame = (one, i) => own(i) === 0 || Math.abs(own(i) - ratio * one) <= 1e-12 * ratio * one;
      if (!given.every(isSame)) refuse("the weights of the data are not those of the certificate");
    }
    return mine;
  }
  function checkProblem(file, data, given) {
    const { arrays, n, d, features, losses, count, copies, columns } = file, b = arrays.coef, at = arrays.split_coef;
    const weights = checkWeights(file, data.weight), q = Array.from({ length: d }, () => ZERO), listed = new Map();
    const widest = new Float64Array(d), x = new Float64Array(d);
    arrays.slope_rows.forEach((row, k) => listed.set(row, arrays.slopes[k]));
    let objective = ZERO, dual = ZERO, least = ZERO, reach = 0, used = 0, last = -1;
    const predict = (beta) => x.reduce((z, one, j) => (one && beta[j] ? add(z, times(exact(one), exact(beta[j]))) : z), ZERO);
    const same = b.every((one, j) => one === at[j]);
    for (let row = 0; row < n * count; row++) {
      const i = Math.floor(row / count), copy = row % count, [p, o, factor] = encoded(file, given, i, copy);
      if (!(factor * weights[row] > 0)) continue;
      if (i !== last) [used, last] = [used + 1, i];
      const loss = losses[copies[copy][0] < 0 ? arrays.loss_index[i] : copies[copy][0]], place = columns[copy];
      x.fill(0);
      for (let j = 0; j < features; j++) x[place[j]] = data.X[i * features + j];
      if (place[features] >= 0) x[place[features]] = 1;
      const z = predict(b), sign = (one) => add(p < 0 ? negative(one) : one, exact(o)), t = sign(z), w = times(exact(factor), exact(weights[row]));
      reach = Math.max(reach, Math.abs(z[0]), Math.abs(o));
      const s = listed.has(row) ? listed.get(row) : loss.slope(same ? t : sign(predict(at)));
      [loss.rows, objective] = [(loss.rows || 0) + 1, add(objective, times(w, loss.value(t)))];
      const g = times(w, exact(p * s));
      dual = add(dual, times(w, minus(times(exact(s), exact(o)), loss.conjugate(s))));
      least = least && loss.drop ? minus(least, times(w, loss.drop)) : null;
      if (s) x.forEach((one, j) => { if (one) q[j] = minus(q[j], times(g, exact(one))); });
      x.forEach((one, j) => { widest[j] = Math.max(widest[j], Math.abs(one)); });
    }
    const unit = Array.from(widest, (most) => reach / (most || 1)); // would explain the largest target
    const constrain = (matrix, constant, multipliers, isEquality) => constant.forEach((c, k) => {
      let left = exact(c), terms = Math.abs(c);
      for (let j = 0; j < d; j++) {
        const entry = matrix[k * d + j];
        left = add(left, times(exact(entry), exact(b[j])));
        terms += Math.abs(entry) * Math.max(Math.abs(b[j]), 1e-3 * unit[j]);
        q[j] = add(q[j], times(exact(entry), exact(multipliers[k])));
      }
      const off = isEquality ? Math.abs(left[0]) : -left[0];
      if (!(off <= 1e-9 * terms && terms < Infinity)) refuse("the coefficients break a constraint");
      dual = minus(dual, times(exact(multipliers[k]), exact(c)));
    });
    constrain(arrays.A, arrays.c, arrays.inequality, false);
    constrain(arrays.E, arrays.f, arrays.equality, true);
    const penalty = new Penalty(file, Array.from(b, (x, j) => file.radius * Math.max(Math.abs(x), unit[j])));
    objective = add(objective, penalty.value());
    if (!file.claim) { // the loss still falls there
      const fall = q.reduce((sum, one, j) => add(sum, times(one, exact(arrays.direction[j]))), ZERO);
      return upper(objective) <= -1024 && isPositive(fall) ? { falls: upper(objective), used } : refuse("the objective does not fall far enough");
    }
    const { sum, rest, outside } = penalty.conjugate(q), base = upper(minus(objective, minus(dual, sum)));
    // Competitors that are no worse have a norm of at most the objective less the least loss.
    const norm = least ? upper(minus(objective, least)) : Infinity;
    const bounded = rest ? base + (rest < 1 ? 1.001 * (rest / (1 - rest)) * norm : Infinity) : base;
    const cut = base + 1.001 * rest * outside; // competitors are cut off only where that is much less, or proves what is claimed
    const isLess = 10 * Math.max(cut, 0) < bounded || (rest > 0 && bounded > file.claim.gap), gap = isLess ? cut : bounded, found = objective[0];
    if (!(gap <= file.claim.gap)) refuse(`the proved gap ${gap.toPrecision(3)} is larger than the claimed ${file.claim.gap.toPrecision(3)}`);
    if (!(Math.abs(found - file.claim.objective) <= 1e-9 * Math.abs(found) + file.claim.gap)) refuse(`the objective is ${found}, not ${file.claim.objective}`);
    return { objective: found, gap: Math.max(gap, 0), used, radius: isLess || penalty.isCut ? file.radius : Infinity };
  }
  class Penalty {
    constructor(file, far) {
      Object.assign(this, { file, far, isCut: false }, file.arrays);
      this.inTasks = new Set(this.tasks);
      this.norms = [...file.groups.values()].filter((members) => this.strengths[members[0]] > 0);
      this.inNorm = new Set(this.norms.flat());
    }
    value() {
      const own = (b, j) => add(half(times(exact(this.rho[j]), times(exact(b), exact(b)))), times(exact(this.l1[j]), exact(Math.abs(b))));
      let sum = Array.from(this.coef).reduce((total, b, j) => (this.groups[j] < 0 ? add(total, own(b, j)) : total), ZERO);
      for (const members of this.norms) {
        const sorted = members.map((j) => Math.abs(this.coef[j])).sort((x, y) => y - x);
        members.forEach((j, k) => { sum = add(sum, times(exact(this.strengths[j]), exact(sorted[k]))); });
      }
      return this.tasks ? add(sum, this.charge()) : sum;
    }
    // ---- tasks that share a subspace: bounds on squared singular values of M, the largest first, by a nearly orthogonal W of the
    // file. With B = M W, the sums of the sizes in the rows of B'B bound its eigenvalues (Gershgorin).
    squares(M, which) {
      const t = this.shares.length, all = Array.from({ length: t }, (_, k) => k), W = all.map((i) => all.map((k) => exact(this.turns[(which * t + i) * t + k])));
      const total = (terms) => terms.reduce(add, ZERO), gram = (rows, i, k) => total(rows.map((row) => times(row[i], row[k])));
      const lost = Math.max(...all.map((i) => upper(total(all.map((k) => size(minus(gram(W, i, k), i === k ? exact(1) : ZERO)))))));
      if (!(lost < 0.5)) refuse("a matrix of the file is not nearly orthogonal");
      const B = M.map((row) => all.map((k) => total(row.map((one, i) => times(one, W[i][k])))));
      const sums = all.map((i) => upper(total(all.map((k) => size(gram(B, i, k))))));
      return sums.map((x) => Math.max(0, (x / (1 - lost)) * (1 + 2 ** -50))).sort((x, y) => y - x);
    }
    matrix(entry) { // rows of the matrix of tasks, less their means if these cost nothing, and their sums
      const t = this.shares.length, rows = Array.from({ length: this.tasks.length / t }, (_, i) => Array.from(this.tasks.slice(i * t, (i + 1) * t), entry));
      const sums = rows.map((row) => row.reduce(add, ZERO)), share = squareOver(exact(1), t);
      return { sums, rows: this.shared[3] ? rows.map((row, i) => row.map((one) => minus(one, times(sums[i], share)))) : rows };
    }
    charge() { // at least the penalty: any shares are allowed
      const [c, eta] = this.shared, shares = Array.from(this.shares).sort((x, y) => y - x), { rows } = this.matrix((j) => exact(this.coef[j]));
      return exact(this.squares(rows, 0).reduce((sum, x, k) => sum + x / (eta + shares[k]), 0) * c * (1 + (shares.length + 8) * 2 ** -52) + 2 ** -1000);
    }
    conjugateOfTasks(q) {
      const [c, eta, h, isCentred] = this.shared, t = this.shares.length, { rows, sums } = this.matrix((j) => q[j]);
      const own = this.squares(rows, 1).reduce((sum, x, k) => sum + (k < h ? 1 + eta : eta) * x, 0) / (4 * c);
      const far = (i) => Math.max(...Array.from(this.tasks.slice(i * t, (i + 1) * t), (j) => this.far[j])); // what they have in common is free
      const common = isCentred ? sums.reduce((sum, one, i) => sum + upper(size(one)) * far(i), 0) : 0;
      this.isCut ||= isCentred === 1;
      return exact((own + common) * (1 + (t + sums.length + 8) * 2 ** -52) + 2 ** -1000);
    }
    // At least the conjugate at q less `rest` of it, which is outside of dual balls of norms, and
    // what these columns can be worth. Competitors on free columns are cut off.
    conjugate(q) {
      let [sum, rest, outside] = [this.tasks ? this.conjugateOfTasks(q) : ZERO, 0, 0];
      const leave = (over, all, members) => {
        rest = Math.max(rest, Math.min(1, (1.001 * Math.max(0, over[0] + over[2]) + 2 ** -100 * all[0]) / all[0]));
        for (const j of members) outside += (Math.abs(q[j][0]) + q[j][2]) * this.far[j];
      };
      q.forEach((centre, j) => {
        if (this.inNorm.has(j) || this.inTasks.has(j)) return;
        const [bend, bow] = this.groups[j] < 0 ? [this.rho[j], this.l1[j]] : [0, 0];
        const isFree = bend === 0 && bow === 0, [low, high] = isFree ? this.cut(j, centre) : [this.lower[j], this.upper[j]];
        let [best, isOutside] = [null, false];
        for (const side of [-1, 1]) { // convex in q: largest at an end of its range
          const end = add([centre[0], centre[1], 0], exact(side * 1.01 * (centre[2] + RELATIVE * Math.abs(centre[0]))));
          let s = [end[0], end[1], 0];
          const over = minus(size(s), exact(bow)), isOpen = (s[0] > 0 ? high : -low) === Infinity;
          if (!isFree && bend === 0 && isOpen && mayRise(over)) {
            leave(over, size(s), isOutside ? [] : [j]);
            [s, isOutside] = [exact(Math.sign(s[0]) * bow), true];
          }
          if (high >= 0) best = larger(best, supremum(s, [0, 0, bow, bend], Math.max(low, 0), high));
          if (low <= 0) best = larger(best, supremum(s, [0, 0, -bow, bend], low, Math.min(high, 0)));
        }
        sum = add(sum, best);
      });
      for (const members of this.norms) { // their bounds may count as infinite
        const over = this.excess(members, q).filter(([one]) => mayRise(one));
        over.forEach(([one, all], k) => leave(one, all, k ? [] : members));
      }
      return { sum, rest, outside };
    }
    cut(j, s) {
      const [low, high] = [this.lower[j], this.upper[j]];
      this.isCut ||= (low === -Infinity && mayFall(s)) || (high === Infinity && mayRise(s));
      return [low === -Infinity ? Math.min(-this.far[j], high) : low, high === Infinity ? Math.max(this.far[j], low) : high];
    }
    // Sums of the k largest sizes less those of the strengths, which are at most zero in the ball.
    excess(members, q) {
      const sorted = members.map((j) => size(q[j])).sort((x, y) => y[0] - x[0] || y[1] - x[1]);
      let [sum, allowed] = [ZERO, ZERO];
      return members.map((j, k) => {
        [sum, allowed] = [add(sum, sorted[k]), add(allowed, exact(this.strengths[j]))];
        return [minus(sum, allowed), sum];
      });
    }
  }
  // ---- the proof of infeasibility, in whole numbers times a power of two ------------------------
  function whole(x) { // a double times 2^1100
    const word = new BigUint64Array(Float64Array.of(Math.abs(x)).buffer)[0], power = (word >> 52n) & 2047n, digits = word & (2n ** 52n - 1n);
    const value = power ? (digits + 2n ** 52n) << (power + 25n) : digits << 26n;
    return x < 0 ? -value : value;
  }
  function checkInfeasible({ arrays }) {
    const { A, E, c, f, lower, upper: top, inequality, equality } = arrays, d = lower.length;
    const y = [...inequality, ...equality].map(whole), constants = [...c, ...f], entries = [...A, ...E];
    const inner = (x) => y.reduce((sum, one, k) => sum + whole(x(k)) * one, 0n); // times 2^2200
    let level = inner((k) => constants[k]), loose = 0n;
    for (let j = 0; j < d; j++) {
      const v = inner((k) => entries[k * d + j]);
      const end = v > 0n ? top[j] : v < 0n ? lower[j] : 0;
      if (Number.isFinite(end)) level += (v * whole(end)) / 2n ** 1100n + 1n; // rounded up
      else loose += v > 0n ? v : -v;
    }
    if (level >= 0n) refuse("the multipliers prove no contradiction");
    if (loose === 0n) return Infinity;
    const largest = [...c, ...f, ...lower, ...top].reduce((a, x) => (Number.isFinite(x) ? Math.max(a, Math.abs(x)) : a), 1);
    const excluded = Math.min(Number((-level * 2n ** 64n) / loose) / 2 ** 64, Number.MAX_VALUE);
    return excluded >= 1e6 * largest ? excluded : refuse("the multipliers do not cancel");
  }
  const region = ({ c, f, lower, upper }) => `${c.length} inequalities, ${f.length} equalities, ${[...lower, ...upper].filter(Number.isFinite).length} bounds`;
  const contradiction = (arrays, size) => `no coefficients${size < Infinity ? ` of size up to ${size.toPrecision(6)}` : ""} satisfy the constraints. Problem: ${region(arrays)}.`;
  const quoted = (one, most) => JSON.stringify(typeof one === "string" ? one.slice(0, most) : one)
    .replace(/[\u007f-\u00a0\u00ad\u061c\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]/g, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`); // marks that cannot be seen
  function words(file, found) { // made from the arrays; z is a prediction
    const { arrays, header, losses, n, d, count, copies, encoding } = file, number = (x) => String(Number(x.toPrecision(6))), free = Number(file.columns[0].at(-1) >= 0);
    const range = (all) => `${all.length}${all.length ? ` (${number(all.reduce((a, b) => Math.min(a, b)))} to ${number(all.reduce((a, b) => Math.max(a, b)))})` : ""}`;
    const paying = (all) => range(Array.from(all).filter((x, j) => x > 0 && arrays.groups[j] < 0)), norms = [...file.groups.values()].filter(([j]) => arrays.strengths[j] > 0).flat();
    const used = losses.filter((one) => one.rows).sort((x, y) => y.rows - x.rows); // those of most rows first
    const kinds = used.slice(0, 3).map((one) => `slopes from ${number(one.least)} to ${number(one.most)} and ${one.knots.length} knots`);
    const target = `target ${[...new Set(copies.map((copy) => copy[1] + 1))].join(", ")}`, bases = header.labels ? header.labels.map((one, k) => `${quoted(one, 60)}: ${number(encoding[k][1])}`) : [copies.some(([, one]) => one >= 0) ? target : "0"];
    const rules = bases.map((base, k) => `${base} ${encoding[k][0] < 0 ? "-" : "+"} z times ${number(encoding[k][2])}`);
    const proved = found.falls ? `Far along its direction the objective is ${found.falls.toPrecision(3)} or less, and the constraints hold` :
      `The objective ${found.objective.toPrecision(10)} is at most ${found.gap.toPrecision(3)} above the optimum`;
    return proved + (found.radius < Infinity ? ` among coefficients up to ${found.radius} sizes` : "") +
      `. Problem: ${n} rows${found.used < n ? ` (${found.used} with a weight)` : ""}, ${count > 1 ? `${d} columns, every row ${count} times` : `${d - free} columns${free ? " and an intercept" : ""}`}; ` +
      `a convex loss of ${header.labels ? `${target}, ` : ""}${rules.slice(0, 5).join(", ")}${rules.length > 5 ? ", ..." : ""} (z is the prediction) with ${kinds.join(", or ")}${used.length > 3 ? ` (${used.length} losses)` : ""}, ` +
      `${file.stated.weights === "data" ? "weights of the data" : arrays.weight ? "weights of the file" : "equal weights"}; ` +
      `penalty: ridge on ${paying(arrays.rho)}, L1 on ${paying(arrays.l1)}, sorted norms on ${range(norms.map((j) => arrays.strengths[j]))}; constraints: ${region(arrays)}` +
      (arrays.tasks ? `; ${arrays.shared[2]} shared dimensions (c ${number(arrays.shared[0])}, eta ${number(arrays.shared[1])}) of ${arrays.tasks.length} coefficients${arrays.shared[3] ? ", less their means" : ""}.` : ".");
  }
  function stated({ columns, targets, source }, target) { // words of the file: it chooses the columns of a table, so a reader must see them
    const list = (all) => all.slice(0, 12).map((one) => quoted(one, 100)).join(", ") + (all.length > 12 ? ", ..." : "");
    const names = { target: target ? [target] : targets, columns, snapshot: source == null ? null : [source] };
    const said = Object.entries(names).filter(([, all]) => Array.isArray(all) && all.length).map(([what, all]) => `${what} ${list(all)}`);
    return said.length ? [`The file says, without a proof: ${said.join("; ")}.`] : [];
  }
  // ---- data ---------------------------------------------------------------------------------------
  function parseCsv(content) {
    const rows = [[]], cell = /("(?:[^"]|"")*"|[^,"\r\n]*)(,|\r?\n|$)/gy;
    for (let found; cell.lastIndex < content.length && (found = cell.exec(content));) {
      rows[rows.length - 1].push(found[1].startsWith('"') ? found[1].slice(1, -1).replaceAll('""', '"') : found[1].trim());
      if (found[2] !== "," && cell.lastIndex < content.length) rows.push([]);
    }
    const table = rows.filter((row) => row.length > 1 || row[0]);
    if (table.length < 2 || table.some((row) => row.length !== table[0].length)) stop("the CSV file is no table with a line of names");
    return table;
  }
  function lists({ shape: [rows, columns, more], values }) { // a matrix, below a line of numbers of its columns
    if (columns === undefined || more !== undefined) stop("the data must be a matrix whose last column is the target");
    return Array.from({ length: rows + 1 }, (_, i) => Array.from({ length: columns }, (_, j) => (i ? values[(i - 1) * columns + j] : String(j))));
  }
  async function parseData(bytes, file, options) {
    const header = file.header, wanted = options.target ? [options.target] : header.targets, isArray = bytes[0] === 0x93;
    if (bytes[0] === 80 && bytes[1] === 75) { // an archive of arrays
      const members = await unzip(bytes), get = (key) => (members.has(`${key}.npy`) ? parseArray(members.get(`${key}.npy`), key) : stop(`the data have no array ${key}`));
      const X = get("X"), y = get(options.target || "y"), weight = options.weight ? get(options.weight).values : null;
      if (X.shape.length !== 2 || y.shape.length > 2 || y.shape[0] !== X.shape[0]) stop("X must be a matrix, and y must have its rows");
      return { X: X.type === "b" ? X.values.map(Number) : X.values, rows: X.shape[0], columns: X.shape[1], y: y.values, weight };
    }
    const lines = isArray ? lists(parseArray(bytes, "the data")) : parseCsv(text(bytes).replace(/^\uFEFF/, ""));
    if (new Set(lines[0]).size < lines[0].length) stop("two columns have the same name");
    const names = lines[0], rows = lines.length - 1, table = (i, j) => lines[i + 1][j];
    const place = (key) => (names.includes(key) ? names.indexOf(key) : stop(`the data have no column ${key}`));
    const target = Array.isArray(wanted) ? wanted.map(place) : [names.includes("y") ? names.indexOf("y") : names.length - 1], weighted = options.weight ? place(options.weight) : -1;
    const read = (x) => (x === "" ? NaN : Number(x)), others = names.map((_, j) => j).filter((j) => !target.includes(j) && j !== weighted);
    const column = (key) => { // "city=Rome" is 1 where the column city holds Rome
      const cut = names.includes(key) ? -1 : key.indexOf("="), j = place(cut < 0 ? key : key.slice(0, cut));
      return cut < 0 ? (i) => read(table(i, j)) : (i) => Number(table(i, j) === key.slice(cut + 1));
    };
    const chosen = header.columns && !isArray ? header.columns.map(column) : others.map((j) => (i) => read(table(i, j)));
    const X = new Float64Array(rows * chosen.length);
    for (let i = 0; i < rows; i++) chosen.forEach((cell, k) => { X[i * chosen.length + k] = cell(i); });
    const y = Array.from({ length: rows * target.length }, (_, k) => (header.labels ? (x) => x : read)(table(Math.floor(k / target.length), target[k % target.length])));
    return { X, rows, columns: chosen.length, y, weight: weighted < 0 ? null : Array.from({ length: rows }, (_, i) => read(table(i, weighted))) };
  }
  // ---- the verdict: {verdict: "holds", "refused" or "cannot", text} -------------------------------
  async function check(certificate, data, options = {}) {
    let reading = "certificate";
    try {
      const file = await parseFile(certificate), proofs = file.problems.filter((one) => one.losses);
      reading = "data";
      const table = proofs.length ? (data ? await parseData(data, file, options) : stop("the data are missing")) : null;
      reading = "certificate";
      const given = proofs.length && targets(file.header, proofs, table);
      if (proofs.length) await compare(file.header, proofs, table, given);
      const found = file.problems.map((one) => (one.losses ? checkProblem(one, table, given) : { excluded: checkInfeasible(one) }));
      const said = file.problems.map((one, k) => `The claim holds: ${one.losses ? words(one, found[k]) : contradiction(one.arrays, found[k].excluded)}`);
      return { verdict: "holds", text: [...said, ...(proofs.length ? stated(file.header, options.target) : [])].join("\n"), ...(found.length === 1 ? found[0] : {}) };
    } catch (error) {
      const isKnown = error instanceof Refused || error instanceof CannotCheck, isOpen = error instanceof CannotCheck || reading === "data";
      const why = isKnown ? error.message : isOpen ? "the data cannot be read" : "the file is malformed";
      return isOpen ? { verdict: "cannot", text: `Could not check: ${why}.` } : { verdict: "refused", text: `The claim does not hold: ${why}.` };
    }
  }
  function mount(root) {
    const part = (name) => root.querySelector(`[data-part=${name}]`), embedded = part("embedded"), said = part("verdict");
    const held = { certificate: embedded && Uint8Array.from(atob(embedded.textContent), (one) => one.charCodeAt(0)), data: null };
    async function run() {
      Object.assign(said, { textContent: "Checking ...", className: "verdict" });
      await new Promise((next) => setTimeout(next));
      const options = { target: part("target").value.trim(), weight: part("weight").value.trim() }, found = held.certificate ? await check(held.certificate, held.data, options) : { verdict: "cannot", text: "Could not check: the certificate is missing." };
      Object.assign(said, { textContent: found.text, className: `verdict ${found.verdict === "holds" ? "" : "open"}` });
      said.dataset.verdict = found.verdict;
    }
    async function take(files, kind) {
      for (const file of files) held[kind || (file.name.endsWith(".rlcert") ? "certificate" : "data")] = new Uint8Array(await file.arrayBuffer());
      if (held.certificate && held.data) await run();
    }
    for (const kind of ["certificate", "data"]) part(kind)?.addEventListener("change", (event) => take(event.target.files, kind));
    root.addEventListener("dragover", (event) => event.preventDefault());
    root.addEventListener("drop", (event) => { event.preventDefault(); take(event.dataTransfer.files); });
    part("verify").addEventListener("click", run);
  }
  if (typeof module !== "undefined") module.exports = { check };
  else document.querySelectorAll("[data-rectiline-checker]").forEach(mount);
})();
