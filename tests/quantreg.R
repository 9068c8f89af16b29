# Six tables, five levels: what R's quantreg finds, for tests/r_check.py. Argument: folder to write to.
suppressMessages(library(quantreg))
data(engel); data(barro); data(uis); data(Mammals)
folder <- commandArgs(trailingOnly = TRUE)[1]
levels <- c(.1, .25, .5, .75, .9)
tables <- list(
  engel = list(foodexp ~ income, engel),
  barro = list(y.net ~ lgdp2 + fse2 + gedy2 + Iy2 + gcony2, barro),
  uis = list(Y ~ AGE + BECK + IV3 + NDT + RACE + TREAT, uis),
  mammals = list(log(speed) ~ log(weight) + hoppers + specials, Mammals),
  stackloss = list(stack.loss ~ ., stackloss),
  swiss = list(Fertility ~ ., swiss)
)
out <- file(file.path(folder, "found.csv"), "w")
put <- function(...) cat(paste(..., sep = ","), "\n", file = out, sep = "")
quiet <- function(e) suppressWarnings(e)
set.seed(1)
for (name in names(tables)) {
  form <- tables[[name]][[1]]
  given <- tables[[name]][[2]]
  X <- model.matrix(form, given)
  y <- model.response(model.frame(form, given))
  write.csv(cbind(y = y, X[, -1, drop = FALSE]), file.path(folder, paste0(name, ".csv")), row.names = FALSE)
  w <- 0.5 + (seq_along(y) %% 5) * 0.7
  for (tau in levels) {
    fit <- quiet(rq(y ~ X - 1, tau = tau))
    weighted <- quiet(rq(y ~ X - 1, tau = tau, weights = w))
    write_row <- function(what, numbers) put(name, tau, what, paste(format(unname(numbers), digits = 16, trim = TRUE), collapse = ","))
    write_row("coef", coef(fit))
    for (se in c("iid", "nid", "ker")) {
      write_row(se, quiet(tryCatch(summary(fit, se = se)$coefficients[, 2], error = function(e) NA)))
      write_row(paste0("weighted_", se), quiet(tryCatch(summary(weighted, se = se)$coefficients[, 2], error = function(e) NA)))
    }
    for (iid in c(TRUE, FALSE)) {
      ends <- quiet(tryCatch(summary(fit, se = "rank", alpha = .1, iid = iid)$coefficients[, 2:3], error = function(e) NA))
      write_row(if (iid) "rank" else "rank_nid", ends)
    }
    boot <- quiet(summary(fit, se = "boot", R = 1000, bsmethod = "xy", covariance = TRUE))
    write_row("boot", sqrt(diag(boot$cov)))
    if (ncol(X) > 2) {
      smaller <- quiet(rq(y ~ X[, 2:(ncol(X) - 2)], tau = tau))
      larger <- quiet(rq(y ~ X[, 2:(ncol(X) - 2)] + X[, -(1:(ncol(X) - 2))], tau = tau))
      write_row("anova_rank", quiet(tryCatch(anova(larger, smaller, test = "rank")$table[[3]], error = function(e) NA)))
    }
  }
  some <- quiet(lapply(c(.25, .5, .75), function(tau) rq(form, tau = tau, data = given)))
  slopes <- quiet(tryCatch(anova(some[[1]], some[[2]], some[[3]])$table[[3]], error = function(e) NA))
  put(name, 0, "anova_slopes", format(slopes, digits = 16))
}
close(out)
