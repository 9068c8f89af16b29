# Rectiline from R through reticulate: fit, certificate, constraints, standard errors, and a file that
# proves the fit. Run with:  Rscript examples/r/rectiline.R
# The environment variable RETICULATE_PYTHON names the Python that has Rectiline.

library(reticulate)

rl <- import("rectiline")

# A quantile regression on data of R itself, 153 days of air quality in New York, 1973.
days <- na.omit(airquality[, c("Ozone", "Solar.R", "Wind", "Temp")])
X <- as.matrix(days[, c("Solar.R", "Wind", "Temp")])
y <- days$Ozone
model <- rl$QuantileRegressor(quantile = 0.9, alpha = 0)$fit(X, y)
coefficients <- setNames(c(model$intercept_, model$coef_), c("(Intercept)", colnames(X)))
print(round(coefficients, 4))
cat("certified relative gap at most 1e-9:", model$certificate_$relative_gap <= 1e-9, "\n")

# Standard errors as quantreg's summary.rq(se = "ker").
cat(as.character(model$summary(X, y, "kernel")), "\n")

# More wind never means more ozone: directions by the number of the column, from zero on.
directions <- py_dict(c(0L, 1L, 2L), c(1L, -1L, 1L))
bounded <- rl$QuantileRegressor(quantile = 0.9, alpha = 0, monotone = directions)$fit(X, y)
cat("signs hold:", all(bounded$coef_ * c(1, -1, 1) >= 0), "\n")

# A loss of one's own: a unit too little costs four times a unit too much.
problem <- rl$Problem(X, y, loss = rl$losses$Asymmetric(over = 1, under = 4), penalty = NULL)
solution <- rl$solve(problem, tol = 1e-9)
cat("status:", as.character(solution$status), "\n")

# The proof as a file, and the check that needs no solver.
file <- file.path(tempdir(), "fit.rlcert")
solution$save(file)
found <- rl$verify$check(file, list(tuple(np_array(X), np_array(y))))
cat(rl$verify$sentence(found), "\n")
