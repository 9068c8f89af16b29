"use strict";
/* A checker of certificate files in a browser, written from docs/theory/certificate_files.rst.

   It contains no solver. Every number that is computed is a triple [high, low, error]: a sum of two
   doubles and a bound on its distance from the true value, which every operation carries on. What
   is not proved is refused. */
(function () {
  class Refused extends Error {}
  class CannotCheck extends Error {}
  const refuse = (why) => { throw new Refused(why); };
  const stop = (why) => { throw new CannotCheck(why); };
  // ---- numbers: pairs of doubles with a bound on the error -------------------------------------
  const RELATIVE = 2 ** -100; // of one operation on pairs, generously
  const ABSOLUTE = 2 ** -1060; // of one product whose parts underflow
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
    const p = twoProduct(x[0], y[0]);
    const low = p[1] + (x[0] * y[1] + x[1] * y[0]), high = p[0] + low;
    const ax = Math.abs(x[0]), ay = Math.abs(y[0]);
    const error = 1.001 * (ax * y[2] + ay * x[2] + x[2] * y[2]) + RELATIVE * Math.abs(high) + ABSOLUTE;
    return [high, low - (high - p[0]), error];
  }
  const negative = (x) => [-x[0], -x[1], x[2]];
  const minus = (x, y) => add(x, negative(y));
  const size = (x) => (x[0] < 0 ? negative(x) : x); // a bound on the absolute value
  const half = (x) => [x[0] / 2, x[1] / 2, x[2] / 2 + ABSOLUTE];
  const slack = (x) => 1.001 * x[2] + 2 ** -51 * Math.abs(x[1]) + 2 ** -1070;
  // The sign of a pair is that of its high part plus the low one, which double precision decides.
  const upper = (x) => { const v = x[0] + x[1]; return v + slack(x) + 2 ** -51 * Math.abs(v); };
  const isPositive = (x) => x[0] + (x[1] - slack(x)) > 0;
  const isNegative = (x) => x[0] + (x[1] + slack(x)) < 0;
  const isZero = (x) => x[0] === 0 && x[1] === 0 && x[2] === 0;
  function larger(x, y) { // a bound on both
    if (x === null || !Number.isFinite(y[0])) return y;
    if (!Number.isFinite(x[0])) return x;
    const [high, low] = minus(y, x)[0] > 0 ? y : x;
    return [high, low, Math.max(x[2], y[2])];
  }
  function squareOver(x, divisor) { // at least x^2 / divisor, for a positive divisor
    const above = times(x, x), q = above[0] / divisor;
    if (!Number.isFinite(q)) return INFINITE;
    const left = minus(above, times(exact(q), exact(divisor)));
    const more = (left[0] + left[1]) / divisor;
    const error = (1.001 * left[2] + ABSOLUTE) / divisor + 2 ** -50 * Math.abs(more) + ABSOLUTE;
    const sum = twoSum(q, more);
    return [sum[0], sum[1], error + RELATIVE * Math.abs(q)];
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
      if ((high === Infinity && upperSign(rise) > 0) || (low === -Infinity && lowerSign(rise) < 0)) { return INFINITE; }
      const ends = [low, high].filter(Number.isFinite).map(there);
      return ends.length ? ends.reduce(larger, null) : minus(times(s, exact(at)), exact(value));
    }
    const derivative = (t) => minus(rise, times(exact(bend), minus(exact(t), exact(at))));
    if (high < Infinity && isPositive(derivative(high))) return there(high);
    if (low > -Infinity && isNegative(derivative(low))) return there(low);
    return add(minus(times(s, exact(at)), exact(value)), half(squareOver(rise, bend)));
  }
  const upperSign = (x) => (isZero(x) || isNegative(x) ? 0 : 1); // 1 unless x <= 0 is proved
  const lowerSign = (x) => (isZero(x) || isPositive(x) ? 0 : -1);
  class Loss {
    constructor(knots, pieces) {
      Object.assign(this, { knots, pieces, found: new Map() });
      const [first, last] = [pieces[0], pieces[pieces.length - 1]];
      this.least = first[3] > 0 ? -Infinity : first[2];
      this.most = last[3] > 0 ? Infinity : last[2];
      this.nearest = Math.min(Math.max(0, this.least), this.most); // the slope nearest to zero
      knots.forEach((knot, k) => {
        if (k && knot <= knots[k - 1]) refuse("the knots of a loss do not increase");
        const sides = [pieces[k], pieces[k + 1]], [left, right] = sides.map((one) => pieceAt(one, exact(knot)));
        const sizes = sides.map(([at, , slope, bend]) => [Math.abs(knot) + Math.abs(at), Math.abs(slope) + bend * (Math.abs(knot) + Math.abs(at))]);
        const terms = [0, 1].map((l) => sizes.reduce((sum, [e, rise], k) => sum + (l ? rise : Math.abs(sides[k][1]) + e * rise), 0));
        if (!(Math.abs(minus(left, right)[0]) <= 2 ** -40 * terms[0])) refuse("a loss jumps");
        const [down, up] = sides.map(([at, , slope, bend]) => slope + bend * (knot - at));
        if (!(down - up <= 2 ** -40 * terms[1])) refuse("a loss is not convex");
      });
    }
    where(t) { // the piece of the right derivative
      const k = this.knots.findIndex((knot) => knot > t[0] || (knot === t[0] && t[1] < 0));
      return k < 0 ? this.knots.length : k;
    }
    value(t) { // at least the value at t, whichever side of a knot t is on
      let k = this.where(t);
      while (k > 0 && !isPositive(minus(t, exact(this.knots[k - 1])))) k -= 1;
      let best = pieceAt(this.pieces[k], t);
      for (; k < this.knots.length && !isNegative(minus(t, exact(this.knots[k]))); k++) best = larger(best, pieceAt(this.pieces[k + 1], t));
      return best;
    }
    slope(t) { // right derivative, rounded: any number in the range will do
      const [at, , slope, bend] = this.pieces[this.where(t)], s = add(exact(slope), times(exact(bend), minus(t, exact(at))));
      return Math.min(Math.max(s[0] + s[1], this.least), this.most);
    }
    conjugate(s) { // at least the supremum over all t, over every piece
      if (!(s >= this.least && s <= this.most)) refuse("a slope is outside the range of its loss");
      if (this.found.has(s)) return this.found.get(s);
      const over = (piece, k) => supremum(exact(s), piece, this.knots[k - 1] ?? -Infinity, this.knots[k] ?? Infinity);
      const best = this.pieces.map(over).reduce(larger, null);
      if (this.found.size < 64) this.found.set(s, best);
      return best;
    }
  }
  // ---- SHA-256 (absent from browsers at file:// addresses) --------------------------------------
  const PRIMES = [];
  for (let k = 2; PRIMES.length < 64; k++) if (PRIMES.every((p) => k % p)) PRIMES.push(k);
  const fraction = (x) => Math.floor((x - Math.floor(x)) * 2 ** 32);
  const ROUNDS = Uint32Array.from(PRIMES, (p) => fraction(Math.cbrt(p)));
  class Sha256 {
    state = Uint32Array.from(PRIMES.slice(0, 8), (p) => fraction(Math.sqrt(p)));
    block = new Uint8Array(64); words = new Uint32Array(64);
    used = 0; length = 0;
    update(bytes) {
      this.length += bytes.length;
      for (const byte of bytes) { this.block[this.used++] = byte; if (this.used === 64) this.mix(); }
    }
    mix() {
      const w = this.words, turn = (x, n) => (x >>> n) | (x << (32 - n)), block = view(this.block);
      this.used = 0;
      for (let k = 0; k < 16; k++) w[k] = block.getUint32(4 * k);
      for (let k = 16; k < 64; k++) {
        const x = w[k - 15], y = w[k - 2];
        w[k] = w[k - 16] + (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + w[k - 7] + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10));
      }
      let [a, c, d, e, f, g, h, i] = this.state;
      for (let k = 0; k < 64; k++) {
        const one = (i + (turn(f, 6) ^ turn(f, 11) ^ turn(f, 25)) + ((f & g) ^ (~f & h)) + ROUNDS[k] + w[k]) | 0;
        const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & c) ^ (a & d) ^ (c & d))) | 0;
        [i, h, g, f, e, d, c, a] = [h, g, f, (e + one) | 0, d, c, a, (one + two) | 0];
      }
      [a, c, d, e, f, g, h, i].forEach((x, k) => { this.state[k] += x; });
    }
    digest() {
      const end = new Uint8Array((this.used < 56 ? 64 : 128) - this.used), bits = BigInt(this.length) * 8n;
      end[0] = 128;
      view(end).setBigUint64(end.length - 8, bits);
      this.update(end);
      return Array.from(this.state, (x) => x.toString(16).padStart(8, "0")).join("");
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
    if (end < 0) refuse("this is no archive");
    const count = at.getUint16(end + 10, true);
    for (let k = 0, p = at.getUint32(end + 16, true), total = 0; k < count; k++) { // the directory
      const [flags, method, letters, extra, comment] = [8, 10, 28, 30, 32].map((j) => at.getUint16(p + j, true));
      const [crc, packed, full, start] = [16, 20, 24, 42].map((j) => at.getUint32(p + j, true));
      const from = start + 30 + at.getUint16(start + 26, true) + at.getUint16(start + 28, true);
      const name = text(bytes.subarray(p + 46, p + 46 + letters)), local = text(bytes.subarray(start + 30, start + 30 + at.getUint16(start + 26, true)));
      const isSound = at.getUint32(p, true) === 0x02014b50 && at.getUint32(start, true) === 0x04034b50 && local === name;
      if (!isSound || from + packed > bytes.length || members.has(name)) refuse("the archive is damaged");
      if (flags & 1 || (method !== 0 && method !== 8)) refuse("the archive is packed in a way that is not read");
      if ((total += full) > 2 ** 28 && total > 100 * bytes.length) refuse(`the archive unpacks to ${total} bytes or more`);
      const raw = bytes.subarray(from, from + packed), member = method ? await inflate(raw, full) : raw;
      if (member.length !== full || crc32(member) !== crc) refuse(`${name} is damaged`);
      members.set(name, member);
      p += 46 + letters + extra + comment;
    }
    return members;
  }
  async function inflate(raw, length) {
    const out = new Uint8Array(length);
    const reader = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
    for (let at = 0; ;) {
      const { done, value } = await reader.read();
      if (done) return out.subarray(0, at);
      if (at + value.length > length) { reader.cancel().catch(() => {}); refuse("a member unpacks to more than it declares"); }
      out.set(value, at);
      at += value.length;
    }
  }
  const READ = { f8: "Float64", f4: "Float32", i8: "BigInt64", u8: "BigUint64", i4: "Int32", u4: "Uint32", i2: "Int16", u2: "Uint16",
    i1: "Int8", u1: "Uint8", b1: "Uint8" };
  function parseArray(bytes, name) { // NumPy's format: {shape, type, values}, rows one after another
    const at = view(bytes), wide = bytes[6] > 1;
    if (bytes.length < 12 || text(bytes.subarray(1, 6)) !== "NUMPY") refuse(`${name} is no array`);
    const begin = wide ? 12 : 10, length = wide ? at.getUint32(8, true) : at.getUint16(8, true);
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
    const values = letter === "f" ? new Float64Array(count) : new Array(count);
    const [rows, columns] = shape.length === 2 ? shape : [1, count];
    for (let k = 0; k < count; k++) {
      const place = fortran === "True" ? (k % columns) * rows + Math.floor(k / columns) : k;
      values[k] = one(begin + length + place * width);
    }
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
  const REQUIRED = { c: "m", f: "k", A: "md", E: "kd", lower: "d", upper: "d", inequality: "m", equality: "k" };
  const OPTIMAL = { coef: "d", split_coef: "d", rho: "d", l1: "d", strengths: "d", groups: "d", slopes: "s", slope_rows: "s" };
  const OPTIONAL = { weight: "n", loss_index: "n" };
  const WHOLE = ["groups", "slope_rows", "loss_index"];
  async function parseFile(bytes) {
    const members = await unzip(bytes);
    if (!members.has("header.json")) refuse("the archive has no header.json");
    const header = JSON.parse(text(members.get("header.json")));
    if (header === null || typeof header !== "object" || Array.isArray(header)) refuse("the header is no object");
    if (header.format !== "rectiline-certificate" || header.version !== 1) refuse("this is no certificate of format 1");
    const optimal = header.kind === "optimality";
    if (!optimal && header.kind !== "infeasible") refuse("the kind of the certificate is not known");
    const names = [...members.keys()].filter((name) => name !== "header.json").map((name) => name.replace(/\.npy$/, "")).sort();
    if (!Array.isArray(header.arrays) || header.arrays.join("\n") !== names.join("\n")) refuse("the arrays are not those that the header lists");
    const dims = { ...REQUIRED, ...(optimal ? OPTIMAL : {}) }, allowed = { ...dims, ...(optimal ? OPTIONAL : {}) };
    for (const name of Object.keys(dims)) if (!names.includes(name)) refuse(`there is no array ${name}`);
    const arrays = {}, file = { header, arrays, optimal };
    for (const name of names) {
      if (!Object.hasOwn(allowed, name)) refuse(`the array ${name} is not known`);
      if (!members.has(`${name}.npy`)) refuse("a member is no array");
      arrays[name] = parseArray(members.get(`${name}.npy`), `${name}.npy`);
    }
    const sizes = { m: arrays.c.shape[0], k: arrays.f.shape[0], d: arrays.lower.shape[0] };
    if (optimal) {
      const { n_samples: n, n_columns: d, n_inequalities: m, n_equalities: k } = header;
      if (![n, d, m, k].every((x) => Number.isSafeInteger(x) && x >= 0) || d < 1 || n < 1) refuse("the sizes of the header are no counts");
      Object.assign(sizes, { n, d, m, k, s: arrays.slopes.shape[0] });
    }
    for (const [name, array] of Object.entries(arrays)) {
      const shape = [...allowed[name]].map((one) => sizes[one]);
      if (shape.join() !== array.shape.join()) refuse(`${name} has the shape (${array.shape}), not (${shape})`);
      if (WHOLE.includes(name) ? !"iu".includes(array.type) : array.type + array.width !== "f8") refuse(`${name} holds numbers of another kind`);
      const infinite = { lower: -Infinity, upper: Infinity }[name];
      if (!array.values.every((x) => Number.isFinite(x) || x === infinite)) refuse(`${name} must hold finite numbers`);
      arrays[name] = array.values;
    }
    const signed = ["inequality", "rho", "l1", "strengths", "weight"].find((name) => arrays[name]?.some((x) => x < 0));
    if (signed) refuse(`${signed} must not be negative`);
    return optimal ? parseHeader(file, header, arrays) : file;
  }
  function parseHeader(file, header, arrays) {
    if (typeof header.fit_intercept !== "boolean") refuse("fit_intercept is not true or false");
    Object.assign(file, { n: header.n_samples, d: header.n_columns, features: header.n_columns - Number(header.fit_intercept) });
    if (!["residual", "margin", "prediction"].includes(header.of)) refuse("what the losses are of is not known");
    const { columns, labels, losses, checksums, claim } = header;
    if (columns !== null && !(Array.isArray(columns) && columns.length === file.features && columns.every((one) => typeof one === "string"))) refuse("columns are no names of the features");
    if (!(Array.isArray(labels) && labels.length === 2 && labels.every((one) => ["string", "number", "boolean"].includes(typeof one)) && labels[0] !== labels[1])) refuse("there are no two labels");
    if (!(Array.isArray(losses) && losses.length)) refuse("there are no losses");
    file.losses = losses.map((one) => {
      if (!one || !Array.isArray(one.knots) || !Array.isArray(one.pieces) || one.pieces.length !== one.knots.length + 1) refuse("a loss has no pieces");
      const pieces = one.pieces.map((piece) => {
        if (!Array.isArray(piece) || piece.length !== 4) refuse("a piece is no list of four numbers");
        return piece.map((x) => double(x, "a number of a loss"));
      });
      if (pieces.some((piece) => piece[3] < 0)) refuse("a loss is not convex");
      return new Loss(one.knots.map((x) => double(x, "a knot")), pieces);
    });
    file.radius = Object.hasOwn(header, "radius") ? header.radius : 100;
    if (file.radius !== 100 && file.radius !== 1024) refuse("the radius must be 100 or 1024");
    file.scale = double(header.weight_scale, "weight_scale");
    if (!(file.scale > 0)) refuse("weight_scale must be positive");
    if (!claim || typeof claim !== "object") refuse("there is no claim");
    file.claim = { objective: double(claim.objective, "the objective"), gap: double(claim.gap, "the gap") };
    file.rowsPerSum = Math.max(1, Math.floor(2 ** 21 / Math.max(1, file.features)));
    if (!Array.isArray(checksums) || checksums.length !== Math.ceil(file.n / file.rowsPerSum)) refuse("there are not as many checksums as blocks of rows");
    const { slope_rows: rows, groups, loss_index: index } = arrays;
    if (rows.some((row, k) => row < 0 || row >= file.n || (k && row <= rows[k - 1]))) refuse("slope_rows are no increasing numbers of rows");
    if (groups.some((one) => one < -1)) refuse("groups are no numbers of groups");
    if (index ? index.some((one) => one < 0 || one >= losses.length) : losses.length > 1) refuse("loss_index names no loss");
    file.groups = new Map();
    groups.forEach((group, j) => { if (group >= 0) file.groups.set(group, [...(file.groups.get(group) || []), j]); });
    const grows = (members) => members.some((j, k) => k && arrays.strengths[j] > arrays.strengths[members[k - 1]]);
    if ([...file.groups.values()].some(grows)) refuse("the strengths of a group increase");
    if (arrays.coef.some((b, j) => !(b >= arrays.lower[j] && b <= arrays.upper[j]))) refuse("a coefficient is outside its bounds");
    return file;
  }
  // ---- the proof of optimality ------------------------------------------------------------------
  function targets(file, y) { // p and o of each row
    const [first, second] = file.header.labels;
    return Array.from(y, (one) => {
      if (file.header.of === "prediction") return [1, 0];
      if (file.header.of === "residual") return Number.isFinite(one) ? [-1, one === 0 ? 0 : one] : stop("y must hold finite numbers");
      const is = (label) => one === label || (typeof label === "boolean" && (Number(label) === one || String(label) === String(one).toLowerCase())) ||
        (typeof one === "boolean" && label === Number(one)) || (typeof one === "string" && typeof label === "number" && one.trim() !== "" && Number(one) === label);
      return is(second) ? [1, 0] : is(first) ? [-1, 0] : refuse("the data have labels other than those of the certificate");
    });
  }
  function checkWeights(file, given) {
    const mine = file.arrays.weight || given; // a file without weights takes those of the data
    if (given.length !== file.n || !given.every((one) => Number.isFinite(one) && one >= 0)) stop("weights must be one for each row, finite and not negative");
    const largest = (all) => all.reduce((a, b) => Math.max(a, b), 0), ratio = largest(given) / largest(mine);
    if (given.some((one, i) => !(Math.abs(one - ratio * mine[i]) <= 1e-12 * ratio * mine[i]))) refuse("the weights of the data are not those of the certificate");
  }
  function checkOptimal(file, data) {
    const { arrays, n, d, features, losses } = file, X = data.X;
    if (data.columns !== features) stop(`the data have ${data.columns} columns, the certificate is about ${features}`);
    if (data.rows !== n || data.y.length !== n) refuse(`the data have ${data.rows} rows, the certificate is about ${n}`);
    if (!X.every(Number.isFinite)) stop("X must hold finite numbers");
    if (data.weight) checkWeights(file, data.weight);
    const rows = targets(file, data.y), record = new Float64Array(features + 2), bytes = new Uint8Array(8 * (features + 2));
    const put = new DataView(bytes.buffer), widest = new Float64Array(d), b = arrays.coef, at = arrays.split_coef;
    const q = Array.from({ length: d }, () => ZERO), start = q.slice(), listed = new Map();
    arrays.slope_rows.forEach((row, k) => listed.set(row, arrays.slopes[k]));
    let sum = new Sha256(), objective = ZERO, dual = ZERO, anchor = ZERO, reach = 0;
    const predict = (row, beta) => {
      let z = features < d ? exact(beta[features]) : ZERO;
      for (let j = 0; j < features; j++) if (row[j] && beta[j]) z = add(z, times(exact(row[j]), exact(beta[j])));
      return z;
    };
    const same = b.every((x, j) => x === at[j]), entry = (j) => (j < features ? record[j] : 1);
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < features; j++) record[j] = X[i * features + j] + 0;
      const [p, o] = rows[i], loss = losses[arrays.loss_index ? arrays.loss_index[i] : 0];
      [record[features], record[features + 1]] = [p, o];
      record.forEach((x, j) => put.setFloat64(8 * j, x === 0 ? 0 : x, true));
      sum.update(bytes);
      if ((i + 1) % file.rowsPerSum === 0 || i === n - 1) {
        if (sum.digest() !== file.header.checksums[Math.floor(i / file.rowsPerSum)]) refuse("the data are not those of the certificate");
        sum = new Sha256();
      }
      const z = predict(record, b), sign = (x) => add(p < 0 ? negative(x) : x, exact(o)), t = sign(z);
      reach = Math.max(reach, Math.abs(z[0]), Math.abs(o));
      const own = arrays.weight || data.weight, w = own ? times(exact(file.scale), exact(own[i])) : exact(file.scale);
      const s = listed.has(i) ? listed.get(i) : loss.slope(same ? t : sign(predict(record, at)));
      objective = add(objective, times(w, loss.value(t)));
      const charge = (slope, total, into) => { // w (slope o - conjugate), and w p slope x
        const g = times(w, exact(p * slope));
        for (let j = 0; j < d; j++) if (slope && entry(j)) into[j] = minus(into[j], times(g, exact(entry(j))));
        return add(total, times(w, minus(times(exact(slope), exact(o)), loss.conjugate(slope))));
      };
      dual = charge(s, dual, q);
      anchor = charge(loss.nearest, anchor, start);
      for (let j = 0; j < d; j++) widest[j] = Math.max(widest[j], Math.abs(entry(j)));
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
    const proved = ({ share, conjugate }) => upper(minus(objective, minus(add(times(exact(share), dual), times(minus(exact(1), exact(share)), anchor)), conjugate)));
    const shrunk = proved(penalty.shrunk(q, start)), isCut = penalty.isCut, cut = proved({ share: 1, conjugate: penalty.conjugate(q, true) });
    const isLess = cut < 0.1 * shrunk, gap = isLess ? cut : shrunk, found = objective[0]; // cut off only where that is much less
    if (!(gap <= file.claim.gap)) refuse(`the proved gap ${gap.toPrecision(3)} is larger than the claimed ${file.claim.gap.toPrecision(3)}`);
    if (!(Math.abs(found - file.claim.objective) <= 1e-9 * Math.abs(found) + file.claim.gap)) refuse(`the objective is ${found}, not ${file.claim.objective}`);
    return { objective: found, gap: Math.max(gap, 0), radius: (isLess ? penalty.isCut : isCut) ? file.radius : Infinity };
  }
  class Penalty {
    constructor(file, far) {
      Object.assign(this, { file, far, isCut: false }, file.arrays);
      this.norms = [...file.groups.values()].filter((members) => this.strengths[members[0]] > 0);
      this.inNorm = new Set(this.norms.flat());
    }
    value() {
      let sum = ZERO;
      const own = (b, j) => add(half(times(exact(this.rho[j]), times(exact(b), exact(b)))), times(exact(this.l1[j]), exact(Math.abs(b))));
      this.coef.forEach((b, j) => { if (this.groups[j] < 0) sum = add(sum, own(b, j)); });
      for (const members of this.norms) {
        const sorted = members.map((j) => Math.abs(this.coef[j])).sort((x, y) => y - x);
        members.forEach((j, k) => { sum = add(sum, times(exact(this.strengths[j]), exact(sorted[k]))); });
      }
      return sum;
    }
    // At least the conjugate at q, infinite if it is; competitors on free columns are cut off.
    conjugate(q, isLast) {
      let sum = ZERO;
      const cut = (j, s) => {
        const [low, high] = [this.lower[j], this.upper[j]];
        this.isCut ||= (low === -Infinity && lowerSign(s) < 0) || (high === Infinity && upperSign(s) > 0);
        return [low === -Infinity ? Math.min(-this.far[j], high) : low, high === Infinity ? Math.max(this.far[j], low) : high];
      };
      q.forEach((centre, j) => {
        if (this.inNorm.has(j)) return;
        const [bend, bow] = this.groups[j] < 0 ? [this.rho[j], this.l1[j]] : [0, 0];
        const [low, high] = bend === 0 && (bow === 0 || isLast) ? cut(j, centre) : [this.lower[j], this.upper[j]];
        let best = null;
        for (const side of [-1, 1]) { // convex in q: largest at an end of its range
          const end = add([centre[0], centre[1], 0], exact(side * 1.01 * (centre[2] + RELATIVE * Math.abs(centre[0]))));
          const s = [end[0], end[1], 0];
          if (high >= 0) best = larger(best, supremum(s, [0, 0, bow, bend], Math.max(low, 0), high));
          if (low <= 0) best = larger(best, supremum(s, [0, 0, -bow, bend], low, Math.min(high, 0)));
        }
        sum = add(sum, best);
      });
      for (const members of this.norms) { // their bounds may count as infinite
        const over = this.excess(members, q);
        if (!over.some(([one]) => upperSign(one) > 0)) continue;
        if (!isLast) return INFINITE;
        const kept = Math.min(...over.map(([one, all]) => 1 - Math.max(0, (one[0] + one[2]) / all[0]) - 2 ** -50));
        for (const j of members) {
          const rest = minus(q[j], times(exact(kept), q[j]));
          sum = add(sum, supremum(rest, [0, 0, 0, 0], ...cut(j, rest)));
        }
      }
      return Number.isFinite(sum[0] + sum[2]) ? sum : INFINITE;
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
    // The dual point is moved towards slopes nearest to zero until q is in the ball of every norm.
    shrunk(q, start) {
      let share = 0;
      const need = (over, from, to) => { if (over > 0) share = Math.max(share, over / Math.max(from - to, over)); };
      q.forEach((one, j) => {
        if (this.groups[j] >= 0 || this.rho[j] > 0 || this.l1[j] === 0) return;
        const over = minus(size(one), exact(this.l1[j])), end = one[0] > 0 ? this.upper[j] : -this.lower[j];
      if (end === Infinity) need(over[0] + over[2], Math.abs(one[0]), Math.sign(one[0]) * start[j][0]);
      });
      for (const members of this.norms) {
        const to = this.excess(members, start);
        this.excess(members, q).forEach(([over, sum], k) => need(over[0] + over[2], sum[0], to[k][1][0]));
      }
      for (let step = share ? 1 : 0; step < 40; step++) {
        const rest = step ? Math.min(1, Math.ceil(share * 2 ** 53 + 2 ** step - 2) / 2 ** 53) : 0;
        const kept = 1 - rest, moved = minus(exact(1), exact(kept));
        const conjugate = this.conjugate(kept === 1 ? q : q.map((one, j) => add(times(exact(kept), one), times(moved, start[j]))));
        if (Number.isFinite(conjugate[0])) return { share: kept, conjugate };
      }
      return { share: 1, conjugate: this.conjugate(q, true) }; // competitors are cut off there, too
    }
  }
  // ---- the proof of infeasibility, in whole numbers times a power of two ------------------------
  function whole(x) { // a double times 2^1100
    const bits = new DataView(new ArrayBuffer(8));
    bits.setFloat64(0, x);
    const word = bits.getBigUint64(0), power = (word >> 52n) & 2047n, digits = word & (2n ** 52n - 1n);
    const value = power ? (digits + 2n ** 52n) << (power + 25n) : digits << 26n;
    return x < 0 ? -value : value;
  }
  function checkInfeasible({ arrays }) {
    const { A, E, c, f, lower, upper: top, inequality, equality } = arrays, d = lower.length;
    if (lower.some((x, j) => x > top[j])) return Infinity;
    let level = 0n, loose = 0n;
    for (const [x, y] of [[c, inequality], [f, equality]]) x.forEach((one, k) => { level += whole(one) * whole(y[k]); });
    for (let j = 0; j < d; j++) {
      let v = 0n; // times 2^2200
      for (const [matrix, y] of [[A, inequality], [E, equality]]) y.forEach((one, k) => { v += whole(matrix[k * d + j]) * whole(one); });
      const end = v > 0n ? top[j] : v < 0n ? lower[j] : 0;
      if (Number.isFinite(end)) level += (v * whole(end)) / 2n ** 1100n + 1n; // rounded up
      else loose += v > 0n ? v : -v;
    }
    if (level >= 0n) refuse("the multipliers prove no contradiction");
    if (loose === 0n) return Infinity;
    const largest = [...c, ...f, ...lower, ...top].reduce((a, x) => (Number.isFinite(x) ? Math.max(a, Math.abs(x)) : a), 1);
    const excluded = Math.min(Number((-level * 2n ** 64n) / loose) / 2 ** 64, Number.MAX_VALUE);
    if (!(excluded >= 1e6 * largest)) refuse("the multipliers do not cancel");
    return excluded;
  }
  // ---- words made from the arrays -----------------------------------------------------------------
  function words(file, found) {
    const { arrays, header, losses, n, features } = file, number = (x) => String(Number(x.toPrecision(6)));
    const several = (k, what) => `${k} ${what}${k === 1 ? "" : "s"}`, count = (all, is) => Array.from(all).filter(is).length;
    const of = { residual: "the residual y - x'b", margin: "the margin (label times x'b)", prediction: "the prediction x'b" }[header.of];
    const kinds = losses.slice(0, 3).map((one) => `slopes from ${number(one.least)} to ${number(one.most)} and ${several(one.knots.length, "knot")}`);
    const listed = (all) => all.filter(([k]) => k).map(([k, what, of]) => (of ? `${what} on ${several(k, of)}` : several(k, what))).join(", ") || "none";
    const paying = (all) => count(all, (x, j) => x > 0 && arrays.groups[j] < 0);
    const pays = listed([[paying(arrays.rho), "a squared penalty", "coefficient"], [paying(arrays.l1), "L1", "coefficient"], [file.groups.size, "a sorted norm", "group"]]);
    const limits = listed([[arrays.c.length, "inequality row"], [arrays.f.length, "equality row"],
      [count(arrays.lower, Number.isFinite), "lower bound"], [count(arrays.upper, Number.isFinite), "upper bound"]]);
    return `The objective ${found.objective.toPrecision(10)} is at most ${found.gap.toPrecision(3)} above the optimum` +
      (found.radius < Infinity ? ` among coefficients up to ${found.radius} sizes` : "") +
      `. Problem: ${several(n, "row")}, ${several(features, "column")}${header.fit_intercept ? " and an intercept" : ""}; ` +
      `a convex loss of ${of} with ${kinds.join(", or ")}${losses.length > 3 ? ` (${losses.length} losses)` : ""}, ` +
      `weights of the ${arrays.weight ? "file" : "data (one if there are none)"} times ${number(file.scale)}; ` +
      `penalty: ${pays}; constraints: ${limits}.`;
  }
  // ---- data ---------------------------------------------------------------------------------------
  function parseCsv(content) {
    const rows = [[]], cell = /("(?:[^"]|"")*"|[^,"\r\n]*)(,|\r?\n|$)/gy;
    for (let found; cell.lastIndex < content.length && (found = cell.exec(content));) {
      const word = found[1].startsWith('"') ? found[1].slice(1, -1).replaceAll('""', '"') : found[1].trim();
      rows[rows.length - 1].push(word);
      if (found[2] !== "," && cell.lastIndex < content.length) rows.push([]);
    }
    const table = rows.filter((row) => row.length > 1 || row[0]);
    if (table.length < 2 || table.some((row) => row.length !== table[0].length)) stop("the CSV file is no table with a line of names");
    return table;
  }
  function lists({ shape: [rows, columns, more], values }) { // a matrix, below a line of numbers of its columns
    if (columns === undefined || more !== undefined) stop("the data must be a matrix whose last column is the target");
    const line = (i) => Array.from({ length: columns }, (_, j) => (i ? values[(i - 1) * columns + j] : String(j)));
    return Array.from({ length: rows + 1 }, (_, i) => line(i));
  }
  async function parseData(bytes, file, options) {
    const wanted = options.target || null, header = file.header;
    const isZip = bytes[0] === 80 && bytes[1] === 75, isArray = bytes[0] === 0x93;
    if (isZip) {
      const members = await unzip(bytes), get = (key) => (members.has(`${key}.npy`) ? parseArray(members.get(`${key}.npy`), key) : stop(`the data have no array ${key}`));
      const X = get("X"), y = get(wanted || "y"), weight = options.weight ? get(options.weight).values : null;
      if (X.shape.length !== 2 || y.shape.length !== 1) stop("X must be a matrix and y a vector");
      return { X: X.values, rows: X.shape[0], columns: X.shape[1], y: y.values, weight };
    }
    const lines = isArray ? lists(parseArray(bytes, "the data")) : parseCsv(text(bytes).replace(/^\uFEFF/, ""));
    const names = lines[0], rows = lines.length - 1, table = (i, j) => lines[i + 1][j];
    const place = (key) => (names.includes(key) ? names.indexOf(key) : stop(`the data have no column ${key}`));
    const target = wanted ? place(wanted) : names.includes("y") ? names.indexOf("y") : names.length - 1;
    const weighted = options.weight ? place(options.weight) : -1;
    const chosen = header.columns && !isArray ? header.columns.map(place) : names.map((_, j) => j).filter((j) => j !== target && j !== weighted);
    const X = new Float64Array(rows * chosen.length), read = (x) => (x === "" ? NaN : Number(x));
    for (let i = 0; i < rows; i++) chosen.forEach((j, k) => { X[i * chosen.length + k] = read(table(i, j)); });
    const column = (j, is) => Array.from({ length: rows }, (_, i) => is(table(i, j)));
    const y = column(target, header.of === "margin" ? (x) => x : read);
    return { X, rows, columns: chosen.length, y, weight: weighted < 0 ? null : column(weighted, read) };
  }
  // ---- the verdict: {verdict: "holds", "refused" or "cannot", text} -------------------------------
  async function check(certificate, data, options = {}) {
    let reading = "certificate";
    try {
      const file = await parseFile(certificate);
      if (!file.optimal) {
        const excluded = checkInfeasible(file), m = file.arrays.c.length, k = file.arrays.f.length;
        const who = excluded === Infinity ? "no coefficients" : `no coefficients of size up to ${excluded.toPrecision(6)}`;
        return { verdict: "holds", text: `The claim holds: ${who} satisfy the ${m} inequality and ${k} equality rows and the bounds.` };
      }
      reading = "data";
      const table = data ? await parseData(data, file, options) : stop("the data are missing");
      reading = "certificate";
      const found = checkOptimal(file, table);
      return { verdict: "holds", text: `The claim holds: ${words(file, found)}`, ...found };
    } catch (error) {
      const isKnown = error instanceof Refused || error instanceof CannotCheck, isOpen = error instanceof CannotCheck || reading === "data";
      const why = isKnown ? error.message : isOpen ? "the data cannot be read" : "the file is malformed";
      return isOpen ? { verdict: "cannot", text: `Could not check: ${why}.` } : { verdict: "refused", text: `The claim does not hold: ${why}.` };
    }
  }
  // ---- the page -----------------------------------------------------------------------------------
  function mount(root) {
    const part = (name) => root.querySelector(`[data-part=${name}]`), held = { certificate: null, data: null };
    const embedded = part("embedded"), said = part("verdict");
    if (embedded) held.certificate = Uint8Array.from(atob(embedded.textContent), (one) => one.charCodeAt(0));
    async function run() {
      Object.assign(said, { textContent: "Checking ...", className: "verdict" });
      await new Promise((next) => setTimeout(next));
      const options = { target: part("target").value.trim(), weight: part("weight").value.trim() };
      const found = held.certificate ? await check(held.certificate, held.data, options) : { verdict: "cannot", text: "Could not check: the certificate is missing." };
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
